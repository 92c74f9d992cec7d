import { existsSync, statSync } from 'node:fs';
import { checkLmdbFile } from '../../base/lmdb-file.ts';
import { followSecretFile } from '../../base/variables/follow-secret-file.ts';
import type { StoreConfig } from '../config/read-config.ts';
import { storeSecret } from '../config/variables.ts';
import type { Events } from '../telemetry/events.ts';
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

/** The message for a store whose check value belongs to another secret. */
export function describeOtherSecret({ redis, secret }: StoreSecretConfig, folder: string): string {
  const source = secret === null ? `DATA_DIR: ${secretPath(folder)}` : 'STORE_SECRET:';
  const written = redis === null ? `${lmdbPath(folder)} was` : 'the data in Redis (REDIS_URL) was';
  return `${source} is not the secret with which ${written} written: restore that secret, or, if this one replaces it, set it as STORE_SECRET_OLD; ${newStoreAdvice}`;
}

interface SecretFilesOptions {
  store: Pick<StoreConfig, 'secret' | 'oldSecret' | 'secretFile' | 'oldSecretFile'>;
  useSecret(present: string, old: string | null): Promise<void>;
  /** Called before a new secret is used. */
  hideSecret: (secret: string) => void;
  events: Pick<Events, 'storeSecretReloaded' | 'storeSecretInvalid'>;
}

/** Reads the files with the present secret and the old one again when they change, so that a secret is replaced without a restart. */
export function followStoreSecrets({ store, useSecret, hideSecret, events }: SecretFilesOptions) {
  const { secretFile, oldSecretFile } = store;
  let { secret, oldSecret } = store;
  const follow = (file: string | null, variable: 'STORE_SECRET' | 'STORE_SECRET_OLD', value: string | null) =>
    followSecretFile({
      file,
      variable,
      type: storeSecret,
      value,
      onRead(text) {
        hideSecret(text);
        if (variable === 'STORE_SECRET') secret = text;
        else oldSecret = text;
        if (secret !== null) void useSecret(secret, oldSecret);
        events.storeSecretReloaded(variable);
      },
      onInvalid: (reason) => events.storeSecretInvalid(variable, reason),
    });
  const files = [follow(secretFile, 'STORE_SECRET', secret), follow(oldSecretFile, 'STORE_SECRET_OLD', oldSecret)];
  return {
    /** The secret in use; null: the generated one. */
    present: () => secret,
    reload() {
      for (const file of files) file.reload();
    },
    close() {
      for (const file of files) file.close();
    },
  };
}

const newStoreAdvice =
  'if it is lost, run `ledgerquill start --new-store` once to begin a new store on purpose, which loses the essays that ' +
  'were paid for, the results of orders, and the counts of paid calls: what is ordered again is paid for again';
