import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { ConfigError, messageOf } from '../base/errors.ts';
import { checkLmdbFile, describeRepair, hasIntactPages, type LmdbFile } from '../base/lmdb-file.ts';
import { readConfig } from '../gateway/config/read-config.ts';
import { createLmdbStore, isAsWritten, lmdbPath, markerPath } from '../gateway/stores/lmdb-store.ts';
import { createRedisStore } from '../gateway/stores/redis-store.ts';
import { checkValueExpiry, checkValueKey, createSealing, readOrCreateSecret } from '../gateway/stores/sealed-store.ts';
import { type Store, StoreError } from '../gateway/stores/store.ts';
import {
  describeOtherSecret,
  findEmptiedStore,
  findLostStore,
  type StoreSecretConfig,
} from '../gateway/stores/store-secret.ts';

/** Reads all entries of the files in DATA_DIR. @returns their numbers @throws ConfigError if one is damaged, or the secrets do not open the store */
export async function checkStore(): Promise<string> {
  const { dataDir, store } = readStoreConfig();
  const files = await verifyStore(dataDir);
  const problem = await findSecretProblem(store, dataDir);
  if (problem !== null) throw new ConfigError([problem]);
  const lines = files.map(({ name, entries }) => `  ${name.padEnd(24)} ${entries} entries`);
  return files.length === 0 ? `${dataDir} has no store.` : [`${dataDir} is readable:`, ...lines].join('\n');
}

/** @throws ConfigError if the store is not in DATA_DIR */
export function readStoreConfig() {
  const { dataDir, store } = readConfig(process.env);
  if (store.redis === null) return { dataDir, store };
  throw new ConfigError([
    'REDIS_URL: is set, so essays and counts are in Redis, which has backups of its own; see docs/operations.md',
  ]);
}

/**
 * Reads all entries of the LMDB files in a folder, also while gateways use them, and changes nothing.
 * @throws ConfigError that names the damaged files
 */
export async function verifyStore(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.lmdb')) : [];
  const results = await Promise.allSettled(names.map((name) => verifyFile(join(folder, name))));
  const problems = results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    if (!(result.reason instanceof ConfigError)) throw result.reason;
    return result.reason.problems;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** @throws ConfigError if the file is damaged */
async function verifyFile(path: string) {
  const name = basename(path);
  // LMDB would create the file that it refers to.
  if (!existsSync(path)) throw new ConfigError([`DATA_DIR: ${path} is a link to a missing file; delete it`]);
  checkLmdbFile(path);
  // LMDB would make a new store of an empty file, and the loss would not be seen any more.
  if (statSync(path).size === 0) return { name, entries: 0 };
  const isStore = name.startsWith('store-');
  const { entries, damage } = await readFile(path, isStore);
  if (damage === null) return { name, entries };
  throw new ConfigError([`DATA_DIR: ${path} has ${damage}; ${describeRepair(path)}`]);
}

/** Reads each entry in order and by its key, and compares those of a store with their checksums. */
async function readFile(path: string, isStore: boolean): Promise<{ entries: number; damage: string | null }> {
  const file = openFile(path, isStore);
  // From here on, other processes reuse none of the pages.
  const snapshot = file.useReadTransaction();
  const wrong = new Map<string, number>();
  let entries = 0;
  try {
    if (!hasIntactPages(path)) return { entries, damage: 'damaged pages' };
    for (const { key, value, version = 0 } of file.getRange({ versions: isStore })) {
      entries += 1;
      if (file.get(key) === undefined) return { entries, damage: 'damaged pages' };
      const kind = String(key[0]);
      if (isStore && !isAsWritten(file, key, value, version)) wrong.set(kind, (wrong.get(kind) ?? 0) + 1);
    }
  } catch {
    // A damaged key.
    return { entries, damage: 'damaged pages' };
  } finally {
    snapshot.done();
    await file.close();
  }
  const counts = Array.from(wrong, ([kind, count]) => `${count} ${kinds.includes(kind) ? kind : 'unknown'}`);
  return { entries, damage: counts.length === 0 ? null : `damaged entries (${counts.join(', ')})` };
}

const kinds = ['value', 'counter', 'origin'];

/** Without a read, which would make this process a reader. @throws ConfigError */
function openFile(path: string, isStore: boolean): LmdbFile {
  const { open }: typeof import('lmdb') = createRequire(import.meta.url)('lmdb');
  try {
    return open({ path, readOnly: true, useVersions: isStore, encoding: isStore ? 'string' : 'binary' });
  } catch (error) {
    throw new ConfigError([`DATA_DIR: ${path} must be a file that this user can read and lock (${messageOf(error)})`]);
  }
}

/** Whether a running process has opened the file, also one in another container. One that is damaged cannot be in use. */
export async function isInUse(path: string): Promise<boolean> {
  try {
    if (!existsSync(path) || statSync(path).size === 0) return false;
    checkLmdbFile(path);
    const file = openFile(path, true);
    // The lock file forgets processes that have ended, so all readers are running.
    const readers = file.readerList();
    await file.close();
    return /\d/.test(readers);
  } catch {
    return false;
  }
}

/**
 * Why the store cannot be read with the configured secret; null if it can, or if it is empty. Reads the check value, and writes
 * nothing. @throws StoreError; ConfigError if a file is damaged
 */
export async function findSecretProblem(config: StoreSecretConfig, folder: string): Promise<string | null> {
  const lost = findLostStore(config, folder);
  if (lost !== null || (config.redis === null && !existsSync(lmdbPath(folder)))) return lost;
  const value = await withStore(config, folder, (store) => store.get(checkValueKey));
  const sealing = createSealing(() => config.secret ?? readOrCreateSecret(folder), config.oldSecret);
  if (value === null) return findEmptiedStore(config, folder);
  return sealing.opens(value) ? null : describeOtherSecret(config, folder);
}

/**
 * Begins a new store if the present one is lost, damaged, or cannot be read with the secret. The file of the embedded store is moved aside; in
 * Redis, only the check value is replaced, and what cannot be read expires.
 * @returns what was done @throws ConfigError if that is not possible
 */
export async function beginNewStore(
  { store: config, dataDir: folder }: { store: StoreSecretConfig; dataDir: string } = readConfig(process.env),
) {
  const { redis, secret } = config;
  try {
    if (!(await isLost(config, folder)))
      return 'A new store is not needed, because the store can be read with its secret; nothing was changed.';
    if (redis === null) {
      if (await isInUse(lmdbPath(folder))) throw new ConfigError([stillUsed]);
      return `The old store is now ${moveStore(folder)}. ${lost}`;
    }
    await withStore(config, folder, (store) =>
      store.set(checkValueKey, createSealing(() => secret ?? '').createCheckValue(), checkValueExpiry),
    );
    return `What was in Redis can no longer be read, and expires. ${lost}`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ConfigError([`REDIS_URL: \`store new\` must reach Redis, but it failed (${error.reason})`]);
  }
}

const lost =
  'Its essays, the results of its orders, and its counts of paid calls are lost: what is ordered again is paid for again.';

const stillUsed = 'DATA_DIR: another gateway uses it: stop all gateways before `store new`';

async function isLost(config: StoreSecretConfig, folder: string): Promise<boolean> {
  try {
    if ((await findSecretProblem(config, folder)) !== null) return true;
    if (config.redis === null && existsSync(lmdbPath(folder))) await verifyFile(lmdbPath(folder));
    return false;
  } catch (error) {
    // A damaged file.
    if (config.redis === null && error instanceof ConfigError) return true;
    throw error;
  }
}

/** Moves the file, which may be missing, to a name that no check, start or backup reads as a store. @returns the new path */
function moveStore(folder: string): string {
  const path = lmdbPath(folder);
  const moved = `${path}.until-${new Date().toISOString().replaceAll(':', '-')}`;
  if (existsSync(path)) renameSync(path, moved);
  for (const file of [`${path}-lock`, markerPath(folder)]) rmSync(file, { force: true });
  return moved;
}

async function withStore<T>(
  { redis }: StoreSecretConfig,
  folder: string,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const events = { storeDown() {}, storeUp() {} };
  const store =
    redis === null ? createLmdbStore({ folder }) : createRedisStore({ server: redis, commandTimeoutMs: 3_000, events });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
