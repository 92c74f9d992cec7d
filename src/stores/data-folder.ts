import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, errorCodeOf } from '../errors.ts';
import { createFile } from './create-file.ts';

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
