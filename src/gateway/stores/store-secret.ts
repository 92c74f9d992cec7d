import { existsSync } from 'node:fs';
import { checkLmdbFile } from '../../base/lmdb-file.ts';
import type { StoreConfig } from '../config/read-config.ts';
import { lmdbPath } from './lmdb-store.ts';
import { hasSecretFile, secretPath } from './sealed-store.ts';

export type StoreSecretConfig = Pick<StoreConfig, 'redis' | 'secret'>;

/**
 * Why the store cannot be read: the file of the generated secret is missing: a new one would start in silence, and pay for everything again.
 * @throws ConfigError if the file of the store is damaged
 */
export function findLostSecret({ redis, secret }: StoreSecretConfig, folder: string): string | null {
  // In this order: the secret is created before the store.
  if (redis !== null || secret !== null || !existsSync(lmdbPath(folder)) || hasSecretFile(folder)) return null;
  checkLmdbFile(lmdbPath(folder));
  return (
    `DATA_DIR: ${secretPath(folder)} is missing, and ${lmdbPath(folder)} is encrypted with it: restore it from a backup, ` +
    `or set the STORE_SECRET that was set before; ${newStoreAdvice}`
  );
}

/** The message for a store whose check value belongs to another secret. */
export function describeOtherSecret({ redis, secret }: StoreSecretConfig, folder: string): string {
  const source = secret === null ? `DATA_DIR: ${secretPath(folder)}` : 'STORE_SECRET:';
  const written = redis === null ? `${lmdbPath(folder)} was` : 'the data in Redis (REDIS_URL) was';
  return `${source} is not the secret with which ${written} written: restore that secret; ${newStoreAdvice}`;
}

const newStoreAdvice =
  'if it is lost, run `ledgerquill start --new-store` once to begin a new store on purpose, which loses the essays that ' +
  'were paid for, the results of orders, and the counts of paid calls: what is ordered again is paid for again';
