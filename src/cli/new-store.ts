import { existsSync, renameSync, rmSync } from 'node:fs';
import { ConfigError } from '../base/errors.ts';
import { createLmdbStore, lmdbPath, markerPath } from '../gateway/stores/lmdb-store.ts';
import { createRedisStore } from '../gateway/stores/redis-store.ts';
import { checkValueExpiry, checkValueKey, createSealing, readOrCreateSecret } from '../gateway/stores/sealed-store.ts';
import { type Store, StoreError } from '../gateway/stores/store.ts';
import {
  describeOtherSecret,
  findEmptiedStore,
  findLostStore,
  type StoreSecretConfig,
} from '../gateway/stores/store-secret.ts';
import { isInUse, verifyFile } from './verify-store.ts';

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
export async function beginNewStore(config: StoreSecretConfig, folder: string): Promise<string> {
  const { redis, secret } = config;
  try {
    if (!(await isLost(config, folder))) {
      return '--new-store: not needed, because the store can be read with its secret; nothing was changed.';
    }
    if (redis === null) {
      if (await isInUse(lmdbPath(folder))) throw new ConfigError([stillUsed]);
      return `--new-store: the old store is now ${moveStore(folder)}. ${lost}`;
    }
    await withStore(config, folder, (store) =>
      store.set(checkValueKey, createSealing(() => secret ?? '').createCheckValue(), checkValueExpiry),
    );
    return `--new-store: what was in Redis can no longer be read, and expires. ${lost}`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ConfigError([`REDIS_URL: --new-store must reach Redis, but it failed (${error.reason})`]);
  }
}

const lost =
  'Its essays, the results of its orders, and its counts of paid calls are lost: what is ordered again is paid for again.';

const stillUsed = 'DATA_DIR: another gateway uses it: stop all gateways before --new-store';

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

/** Moves the file, which may be missing, and its lock file. @returns the new path */
function moveStore(folder: string): string {
  const path = lmdbPath(folder);
  const time = new Date().toISOString().replaceAll(':', '-');
  const moved = path.replace(/\.lmdb$/, `.until-${time}.lmdb`);
  for (const suffix of ['', '-lock']) if (existsSync(path + suffix)) renameSync(path + suffix, moved + suffix);
  rmSync(markerPath(folder), { force: true });
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
