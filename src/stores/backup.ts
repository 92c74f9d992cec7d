import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { errorCodeOf, UsageError } from '../errors.ts';
import { checkLmdbFile, openLmdbFile } from './lmdb-file.ts';

export interface CopiedFile {
  name: string;
  bytes: number;
}

/**
 * Copies DATA_DIR into a new folder, also while gateways use it: each LMDB file as it is at one moment, and all other files.
 * Only the owner of the copy can read it, because it includes the secret of the store.
 * @throws UsageError if a folder cannot be used; ConfigError if a file is damaged
 */
export async function backUp(dataDir: string, target: string): Promise<CopiedFile[]> {
  if (listFiles(dataDir).length === 0)
    throw new UsageError(`${dataDir} has no files: set DATA_DIR to the folder to copy`);
  if (isInside(target, dataDir)) throw new UsageError('the backup must be outside DATA_DIR');
  if (listFiles(target).length > 0) throw new UsageError(`${target} must be a new or empty folder`);
  mkdirSync(target, { recursive: true });
  chmodSync(target, 0o700);
  for (const name of listFiles(dataDir)) {
    const [from, to] = [join(dataDir, name), join(target, name)];
    if (name.endsWith('.lmdb')) await copyLmdbFile(from, to);
    else cpSync(from, to, { recursive: true, preserveTimestamps: true });
  }
  return describeFiles(target);
}

/**
 * Copies a backup into DATA_DIR. The gateway must not run.
 * @param replace moves the present files aside; returns where
 * @throws UsageError if a folder cannot be used; ConfigError if the backup is damaged, before anything is changed
 */
export function restore(
  backup: string,
  dataDir: string,
  { replace }: { replace: boolean },
): { files: CopiedFile[]; movedTo: string | null } {
  const names = listFiles(backup);
  if (names.length === 0) throw new UsageError(`${backup} has no files: it must be a folder that backup wrote`);
  for (const name of names) if (name.endsWith('.lmdb')) checkLmdbFile(join(backup, name));
  const isUsed = listFiles(dataDir).length > 0;
  if (isUsed && !replace) {
    throw new UsageError(`${dataDir} has files: stop the gateway, and add --replace to move them aside`);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Copied first: a full disk must not leave a part of the backup in the place of the present files.
  const copies = mkdtempSync(join(dataDir, asidePrefix));
  try {
    for (const name of names)
      cpSync(join(backup, name), join(copies, name), { recursive: true, preserveTimestamps: true });
  } catch (error) {
    rmSync(copies, { recursive: true });
    throw new UsageError(`the backup cannot be copied to ${dataDir} (${errorCodeOf(error)}); nothing was changed`);
  }
  const movedTo = isUsed ? mkdtempSync(join(dataDir, asidePrefix)) : null;
  if (movedTo !== null) moveFiles(dataDir, movedTo);
  moveFiles(copies, dataDir);
  rmSync(copies, { recursive: true });
  return { files: describeFiles(dataDir), movedTo };
}

/** Folders in DATA_DIR that a restore makes. A mounted DATA_DIR cannot be moved itself. */
const asidePrefix = 'before-restore-';

function moveFiles(from: string, to: string): void {
  for (const name of listFiles(from)) renameSync(join(from, name), join(to, name));
  for (const name of readdirSync(from)) if (name.endsWith(lockSuffix)) rmSync(join(from, name));
}

async function copyLmdbFile(from: string, to: string): Promise<void> {
  const file = openLmdbFile(from);
  try {
    await file.backup(to, true);
  } finally {
    await file.close();
  }
  chmodSync(to, 0o600);
}

const lockSuffix = '.lmdb-lock';

/** Without the lock files of LMDB, which are of running processes, and the files that a restore moved aside. */
function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => !name.endsWith(lockSuffix) && !name.startsWith(asidePrefix));
}

function describeFiles(folder: string): CopiedFile[] {
  return listFiles(folder).map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
}

function isInside(path: string, folder: string): boolean {
  return `${resolve(path)}${sep}`.startsWith(`${resolve(folder)}${sep}`);
}
