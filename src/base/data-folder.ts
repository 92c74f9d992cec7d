import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError, errorCodeOf } from './errors.ts';

export const defaultDataDir = '.data';

/**
 * Creates the folder of DATA_DIR if it is missing, and a file in it, which it deletes. A full disk is accepted: a gateway
 * that is running when it fills up continues, too.
 * @throws ConfigError if files cannot be created
 */
export function checkDataFolder(folder: string): void {
  const probe = join(folder, `probe-${randomUUID()}`);
  try {
    createFile(probe, '');
    unlinkSync(probe);
  } catch (error) {
    const code = errorCodeOf(error) ?? 'unknown reason';
    if (code === 'ENOSPC' || code === 'EDQUOT') return;
    const problem = problems[code] ?? 'cannot be used: files cannot be created in it';
    const user = process.getuid ? `user ${process.getuid()}` : 'this user';
    throw new ConfigError([
      `DATA_DIR: must be a folder in which ${user} can create files, such as .data or a mounted volume, ` +
        `but ${JSON.stringify(folder)} ${problem} (${code})`,
    ]);
  }
}

const problems: Readonly<Record<string, string>> = {
  EACCES: 'does not permit it',
  EPERM: 'does not permit it',
  EROFS: 'is on a read-only file system',
  ENOENT: 'cannot be created',
  ENOTDIR: 'is a file, or is in one',
};

/**
 * Creates a file that only its owner can read, and its folder, unless it exists. Other processes see the whole file or
 * none, also after a crash or on a full disk; if several create it, the first one wins. @throws a file system error
 */
export function createFile(path: string, content: string | Uint8Array): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  withTemporaryFile(path, content, (temporary) => {
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error;
    }
  });
}

/** Whether every user of the machine may create and replace files in the folder. */
export function isWorldWritable(folder: string): boolean {
  return existsSync(folder) && (statSync(folder).mode & 0o002) !== 0;
}

/** Free space on the disk of a folder; null if it does not exist yet. */
export async function findFreeBytes(folder: string): Promise<number | null> {
  const { bavail, bsize } = (await statfs(folder).catch(() => null)) ?? {};
  return bavail === undefined || bsize === undefined ? null : bavail * bsize;
}

/** @throws a file system error if the disk of the file has no space for this number of bytes */
export function checkFreeSpace(path: string, bytes: number): void {
  withTemporaryFile(path, Buffer.alloc(bytes), () => {});
}

/** `mkdirSync` with `recursive` never returns if the file system refuses with ENOENT, as /proc does. */
export function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  }
}

function withTemporaryFile(path: string, content: string | Uint8Array, use: (temporary: string) => void): void {
  const temporary = `${path}.${randomUUID()}`;
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    use(temporary);
  } finally {
    if (existsSync(temporary)) unlinkSync(temporary);
  }
}
