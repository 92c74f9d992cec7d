import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { ConfigError, errorCodeOf, UsageError } from '../base/errors.ts';
import { checkLmdbFile, openLmdbFile } from '../base/lmdb-file.ts';
import { countOf, print } from '../base/process/terminal.ts';
import { auditFolder, listAuditFiles } from '../gateway/audit/read-audit.ts';
import { findLostStore } from '../gateway/stores/store-secret.ts';
import { isInUse, readStoreConfig } from './store.ts';

/** Copies DATA_DIR into a new folder, while the gateway runs. */
export async function runBackup(folder: string): Promise<void> {
  const { dataDir, store } = readStoreConfig();
  const files = await backUp(dataDir, folder).catch(throwExplained);
  const secret = store.secret === null ? 'which includes the secret of the store' : configuredSecret;
  printFiles(`Copied ${dataDir} to ${folder}, ${secret}:`, files);
}

/** Copies a backup into DATA_DIR. */
export async function runRestore(folder: string, { replace = false }: { replace?: boolean }): Promise<void> {
  const { dataDir } = readStoreConfig();
  const { files, movedTo, keptAudit } = await restore(folder, dataDir, { replace }).catch(throwExplained);
  printFiles(`Restored ${dataDir} from ${folder}:`, files);
  const after = `Calls after the backup remain in the audit trail (${countOf(keptAudit, 'file')}), but are not counted`;
  if (keptAudit > 0)
    print(`${after}: compare \`audit sum\` with \`allowance show\`, and correct it by \`allowance set\`.\n`);
  if (movedTo !== null) print(`The files that were there are in ${movedTo}.\n`);
}

const configuredSecret =
  'without STORE_SECRET and STORE_SECRET_OLD, which are needed to read it: keep them in another place';

/** @throws UsageError for an error of the file system, otherwise the error */
function throwExplained(error: unknown): never {
  const code = errorCodeOf(error);
  if (code === null) throw error;
  const { path } = error as NodeJS.ErrnoException;
  throw new UsageError(
    `${path ?? 'a folder'} must be accessible to this user, and folders must not be files (${code})`,
  );
}

function printFiles(title: string, files: readonly CopiedFile[]): void {
  const lines = files.map(({ name, bytes }) => `  ${name.padEnd(24)} ${Math.ceil(bytes / 1_024)} KiB`);
  print(`${[title, ...lines].join('\n')}\n`);
}

export interface CopiedFile {
  name: string;
  bytes: number;
}

/**
 * Copies DATA_DIR into a new folder, also while gateways use it: each LMDB file as it is at one moment, and all other files.
 * Only the owner of the copy can read it, because it includes the secret of the store.
 * @throws UsageError if a folder cannot be used; ConfigError if a file is damaged, or the store is missing or empty
 */
export async function backUp(dataDir: string, target: string): Promise<CopiedFile[]> {
  if (listFiles(dataDir).length === 0)
    throw new UsageError(`${dataDir} has no files: set DATA_DIR to the folder to copy`);
  const lost = findLostStore({ redis: null, secret: '' }, dataDir);
  if (lost !== null) throw new ConfigError([lost]);
  checkKinds(dataDir);
  if (isInside(target, dataDir)) throw new UsageError('the backup must be outside DATA_DIR');
  if (listFiles(target).length > 0) throw new UsageError(`${target} must be a new or empty folder`);
  mkdirSync(target, { recursive: true });
  chmodSync(target, 0o700);
  for (const name of listFiles(dataDir)) {
    const [from, to] = [join(dataDir, name), join(target, name)];
    if (name.endsWith('.lmdb')) await copyLmdbFile(from, to);
    else copy(from, to);
  }
  return describeFiles(target);
}

interface Restored {
  files: CopiedFile[];
  /** The folder with the files that were there; null if there were none. */
  movedTo: string | null;
  /** Number of files of the audit trail that have more than in the backup. */
  keptAudit: number;
}

/**
 * Copies a backup into DATA_DIR. The gateway must not run.
 * @param replace moves the present files aside, and keeps what the audit trail has beside the backup
 * @throws UsageError if a folder cannot be used; ConfigError if the backup is damaged, before anything is changed
 */
export async function restore(backup: string, dataDir: string, { replace }: { replace: boolean }): Promise<Restored> {
  const names = listFiles(backup);
  if (names.length === 0) throw new UsageError(`${backup} has no files: it must be a folder that backup wrote`);
  checkKinds(backup);
  for (const name of names) if (name.endsWith('.lmdb')) checkBackupFile(join(backup, name));
  const isUsed = listFiles(dataDir).length > 0;
  if (isUsed && !replace)
    throw new UsageError(`${dataDir} has files: stop the gateway, and add --replace to move them aside`);
  for (const name of listFiles(dataDir)) {
    if (!name.endsWith('.lmdb') || !(await isInUse(join(dataDir, name)))) continue;
    throw new UsageError(`${join(dataDir, name)} is used by a running process: stop all gateways and services first`);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Copied first: a full disk must not leave a part of the backup in the place of the present files.
  const copies = mkdtempSync(join(dataDir, asidePrefix));
  try {
    for (const name of names) copy(join(backup, name), join(copies, name));
  } catch (error) {
    rmSync(copies, { recursive: true });
    throw new UsageError(`the backup cannot be copied to ${dataDir} (${errorCodeOf(error)}); nothing was changed`);
  }
  const movedTo = isUsed ? mkdtempSync(join(dataDir, asidePrefix)) : null;
  if (movedTo !== null) moveFiles(dataDir, movedTo);
  moveFiles(copies, dataDir);
  rmSync(copies, { recursive: true });
  const keptAudit = movedTo === null ? 0 : keepAudit(join(movedTo, auditFolder), join(dataDir, auditFolder));
  return { files: describeFiles(dataDir), movedTo, keptAudit };
}

/** What was paid after the backup stays in the trail, whose files only grow. @returns number of files */
function keepAudit(from: string, to: string): number {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? -1;
  const grown = listAuditFiles(from).filter(({ path }) => sizeOf(path) > sizeOf(join(to, basename(path))));
  if (grown.length > 0) mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const { path } of grown) copy(path, join(to, basename(path)));
  return grown.length;
}

/** @throws ConfigError that is about the backup, not about the present store */
function checkBackupFile(path: string): void {
  try {
    checkLmdbFile(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problem = `${path} is damaged, or cannot be read: restore another backup; nothing was changed`;
    throw new ConfigError([problem], 'The backup is invalid');
  }
}

/** Folders in DATA_DIR that a restore makes. A mounted DATA_DIR cannot be moved itself. */
const asidePrefix = 'before-restore-';

function moveFiles(from: string, to: string): void {
  for (const name of listFiles(from)) renameSync(join(from, name), join(to, name));
  for (const name of readdirSync(from)) if (name.endsWith(lockSuffix)) rmSync(join(from, name));
}

/** Copies a file, which only its owner can read then, or a folder. */
function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
  chmodSync(to, statSync(to).isDirectory() ? 0o700 : 0o600);
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

/**
 * Through a link, the gateway would read and write outside DATA_DIR; to read a pipe would never end.
 * @throws UsageError for anything that is neither a file nor a folder of files
 */
function checkKinds(folder: string): void {
  for (const name of listFiles(folder)) {
    const path = join(folder, name);
    const kind = lstatSync(path);
    const isFolder = kind.isDirectory() && !name.endsWith('.lmdb');
    if (isFolder) checkKinds(path);
    else if (!kind.isFile()) {
      const other = kind.isDirectory() ? 'a folder' : 'a pipe, socket or device';
      const found = kind.isSymbolicLink() ? 'a symbolic link' : other;
      throw new UsageError(`${path} is ${found}, and must be a file: replace it with the file itself, or move it away`);
    }
  }
}

/** Without the folder that some file systems have, the lock files of LMDB, which are of running processes, and the files that a restore moved aside. */
function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => {
    return name !== 'lost+found' && !name.endsWith(lockSuffix) && !name.startsWith(asidePrefix);
  });
}

function describeFiles(folder: string): CopiedFile[] {
  return listFiles(folder).map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
}

function isInside(path: string, folder: string): boolean {
  return `${resolve(path)}${sep}`.startsWith(`${resolve(folder)}${sep}`);
}
