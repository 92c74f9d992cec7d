import { ConfigError, errorCodeOf, UsageError } from '../base/errors.ts';
import { print } from '../base/process/terminal.ts';
import { readConfig } from '../gateway/config/read-config.ts';
import { backUp, type CopiedFile, restore } from '../gateway/stores/backup.ts';
import { verifyStore } from '../gateway/stores/verify-store.ts';

/** Copies DATA_DIR into a new folder, while the gateway runs. */
export async function runBackup(folder: string): Promise<void> {
  const { dataDir } = readStoreConfig();
  const files = await backUp(dataDir, folder).catch(throwExplained);
  printFiles(`Copied ${dataDir} to ${folder}, which includes the secret of the store:`, files);
}

/** Copies a backup into DATA_DIR. */
export async function runRestore(folder: string, { replace = false }: { replace?: boolean }): Promise<void> {
  const { dataDir } = readStoreConfig();
  const { files, movedTo } = await restore(folder, dataDir, { replace }).catch(throwExplained);
  printFiles(`Restored ${dataDir} from ${folder}:`, files);
  if (movedTo !== null) print(`The files that were there are in ${movedTo}.\n`);
}

/** Reads all entries of the files in DATA_DIR. @throws ConfigError if one is damaged */
export async function runVerifyStore(): Promise<void> {
  const { dataDir } = readStoreConfig();
  const files = await verifyStore(dataDir);
  const lines = files.map(({ name, entries }) => `  ${name.padEnd(24)} ${entries} entries\n`);
  print(files.length === 0 ? `${dataDir} has no store.\n` : `${dataDir} is readable:\n${lines.join('')}`);
}

function readStoreConfig() {
  const { dataDir, store } = readConfig(process.env);
  if (store.redis === null) return { dataDir };
  throw new ConfigError([
    'REDIS_URL: is set, so essays and counts are in Redis, which has backups of its own; see docs/stores.md',
  ]);
}

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
