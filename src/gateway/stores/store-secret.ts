import { existsSync, statSync } from 'node:fs';
import { checkLmdbFile } from '../../base/lmdb-file.ts';
import type { SecretFile } from '../../base/variables/follow-secret-file.ts';
import type { StoreConfig } from '../config/read-config.ts';
import { type RedisConfig, redisUrl } from '../config/redis-url.ts';
import { storeSecret } from '../config/variables.ts';
import { lmdbPath, markerPath } from './lmdb-store.ts';
import { hasSecretFile, secretPath } from './sealed-store.ts';

export type StoreSecretConfig = Pick<StoreConfig, 'redis' | 'secret'> & Partial<Pick<StoreConfig, 'oldSecret'>>;

/**
 * Why the store cannot be read: its file, which was created, is missing or empty, or the file of the generated secret is missing. A new
 * one would start in silence, and pay for everything again.
 * @throws ConfigError if the file of the store is damaged
 */
export function findLostStore({ redis, secret }: StoreSecretConfig, folder: string): string | null {
  if (redis !== null) return null;
  const path = lmdbPath(folder);
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (!bytes && existsSync(markerPath(folder))) {
    return `DATA_DIR: ${path} is ${bytes === 0 ? 'empty' : 'missing'}, but was created before: restore a backup with ledgerquill restore; ${newStoreAdvice}`;
  }
  // In this order: the secret is created before the store.
  if (secret !== null || bytes === undefined || hasSecretFile(folder)) return null;
  checkLmdbFile(path);
  return (
    `DATA_DIR: ${secretPath(folder)} is missing, and ${path} is encrypted with it: restore it from a backup, ` +
    `or set the STORE_SECRET that was set before; ${newStoreAdvice}`
  );
}

/**
 * Why a store without a check value cannot be used; null if it was never written. The first write is the check value, so the file is another
 * one, or was emptied.
 */
export function findEmptiedStore({ redis }: StoreSecretConfig, folder: string): string | null {
  if (redis !== null || !existsSync(markerPath(folder))) return null;
  return `DATA_DIR: ${lmdbPath(folder)} has lost what was written to it: restore a backup with ledgerquill restore; ${newStoreAdvice}`;
}

/** The message for a store whose check value belongs to another secret. */
export function describeOtherSecret({ redis, secret }: StoreSecretConfig, folder: string): string {
  const source = secret === null ? `DATA_DIR: ${secretPath(folder)}` : 'STORE_SECRET:';
  const written = redis === null ? `${lmdbPath(folder)} was` : 'the data in Redis (REDIS_URL) was';
  return `${source} is not the secret with which ${written} written: restore that secret, or, if this one replaces it, set it as STORE_SECRET_OLD; ${newStoreAdvice}`;
}

/** The present secret and the old one, and their files and that of the password of Redis. The functions are called when one was replaced. */
export function createStoreSecrets(
  store: Pick<StoreConfig, 'redis' | 'redisFile' | 'secret' | 'oldSecret' | 'secretFile' | 'oldSecretFile'>,
  {
    useSecret,
    usePassword,
  }: {
    useSecret(present: string, old: string | null): Promise<void>;
    usePassword(password: string): void;
  },
) {
  let { secret, oldSecret } = store;
  const use = (present: string | null, old: string | null) => {
    [secret, oldSecret] = [present, old];
    if (present !== null) void useSecret(present, old);
  };
  const withoutPassword = (redis: RedisConfig | null) => JSON.stringify({ ...redis, password: '' });
  const files: SecretFile<'REDIS_URL' | 'STORE_SECRET' | 'STORE_SECRET_OLD'>[] = [
    {
      file: store.redisFile,
      variable: 'REDIS_URL',
      type: redisUrl
        .refine((read) => withoutPassword(read) === withoutPassword(store.redis), {
          error: 'has more than another password, which needs a restart',
        })
        .transform(({ password }) => password),
      value: store.redis?.password ?? null,
      use: usePassword,
    },
    {
      file: store.secretFile,
      variable: 'STORE_SECRET',
      type: storeSecret,
      value: secret,
      use: (text) => use(text, oldSecret),
    },
    {
      file: store.oldSecretFile,
      variable: 'STORE_SECRET_OLD',
      type: storeSecret,
      value: oldSecret,
      use: (text) => use(secret, text),
    },
  ];
  /** `present`: the secret in use; null: the generated one. */
  return { files, present: () => secret };
}

const newStoreAdvice =
  'if it is lost, run `ledgerquill store new` to begin a new store on purpose, which loses the essays that ' +
  'were paid for, the results of orders, and the counts of paid calls: what is ordered again is paid for again';
