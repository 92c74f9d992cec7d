import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFile } from '../../base/data-folder.ts';
import { ConfigError, errorCodeOf } from '../../base/errors.ts';
import { createKeyHash, getOrCreate, type Store, StoreError, withCalls } from './store.ts';

/**
 * Protects personal data in the store: keys are replaced by keyed hashes, values are encrypted (AES-256-GCM). Entries
 * sealed with another secret are not found. Counters stay readable, under hashed keys.
 */
export function withSealing(store: Store, loadKeys: () => SealingKeys): Store {
  return {
    async get(key) {
      const { hash, unseal } = loadKeys();
      return unseal(await store.get(hash(key)), key);
    },
    async set(key, value, options) {
      const { hash, seal } = loadKeys();
      await store.set(hash(key), seal(value, key), options);
    },
    async replace(key, seen, next, options) {
      const { hash, seal, unseal } = loadKeys();
      const name = hash(key);
      // The same text is sealed differently each time, so what is compared in the store is what was read from it.
      const sealed = await store.get(name);
      if (unseal(sealed, key) !== seen) return false;
      return store.replace(name, sealed, next === null ? null : seal(next, key), options);
    },
    delete: async (key) => store.delete(loadKeys().hash(key)),
    add: async (key, amount, options) => store.add(loadKeys().hash(key), amount, options),
    close: () => store.close(),
  };
}

export interface SealingKeys {
  /** The name of an entry in the store. */
  hash(key: string): string;
  seal(value: string, key: string): string;
  /** Null remains null. @throws StoreError */
  unseal(sealed: string | null, key: string): string | null;
}

/** Derives the keys on first use: a gateway that stores nothing needs no secret and no folder for it. */
export function createSealingKeys(readSecret: () => string): () => SealingKeys {
  let keys: SealingKeys | undefined;
  return () => {
    keys ??= deriveKeys(readSecret());
    return keys;
  };
}

/** A value that only this secret opens. */
export function createCheckValue(secret: string): string {
  return createSeal(derive(secret, 'check')).seal(checkText, checkText);
}

export function isCheckValueOf(secret: string, value: string): boolean {
  try {
    return createSeal(derive(secret, 'check')).unseal(value, checkText) === checkText;
  } catch {
    return false;
  }
}

/** The name is readable: gateways with another secret must find it, too. */
export const checkValueKey = 'secret-check';

/** A century: it must not expire before the data that it protects. */
export const checkValueExpiry = { expiresInMs: 100 * 365 * 86_400_000 };

/**
 * Makes sure that the store was written with the same secret: with another one, what was paid for would not be found, and
 * would be paid for again. The store has a check value, which only the secret opens. The first write creates it; before it
 * was read, and while it belongs to another secret, nothing else is read or written.
 */
export function withSecretCheck(store: Store, readSecret: () => string) {
  let isChecked = false;
  /** What the last check has found, also while the next one runs. */
  let isOurs = false;

  function check(value: string): void {
    isChecked = isCheckValueOf(readSecret(), value);
    isOurs = isChecked;
    if (!isChecked) throw new StoreError('written with another STORE_SECRET: all gateways need the same');
  }

  async function checkStored(): Promise<void> {
    const value = await store.get(checkValueKey);
    if (value !== null) check(value);
  }

  async function checkOrCreate(): Promise<void> {
    check(await getOrCreate(store, checkValueKey, createCheckValue(readSecret()), checkValueExpiry));
  }

  return {
    ...withCalls(store, async (kind, call) => {
      if (!isChecked) await (kind === 'write' || kind === 'change' ? checkOrCreate() : checkStored());
      return call();
    }),
    /** Whether the store was written with this secret, as far as is known. */
    isOurs: () => isOurs,
    /** Checks the secret again, as after a connection to a store that may be another one. @throws StoreError */
    checkSecret(): Promise<void> {
      isChecked = false;
      return checkOrCreate();
    },
  };
}

const checkText = 'ledgerquill';

function deriveKeys(secret: string): SealingKeys {
  const hash = createKeyHash(derive(secret, 'keys').toString('base64'));
  return { hash, ...createSeal(derive(secret, 'values')) };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `ledgerquill store: ${purpose}`, 32));
}

function createSeal(aesKey: Buffer): Pick<SealingKeys, 'seal' | 'unseal'> {
  return {
    /** The key is authenticated as associated data, so that a value cannot be moved to another key. */
    seal(value, key) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', aesKey, nonce).setAAD(Buffer.from(key));
      const sealed = [nonce, cipher.update(value, 'utf8'), cipher.final()];
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64');
    },
    unseal(text, key) {
      if (text === null) return null;
      const sealed = Buffer.from(text, 'base64');
      try {
        const nonce = sealed.subarray(0, nonceBytes);
        const decipher = createDecipheriv('aes-256-gcm', aesKey, nonce).setAAD(Buffer.from(key));
        decipher.setAuthTag(sealed.subarray(-tagBytes));
        const value = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
        return Buffer.concat([value, decipher.final()]).toString('utf8');
      } catch {
        throw new StoreError('a value was changed or sealed with another secret');
      }
    },
  };
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * The secret that encrypts the embedded store. Generated on first use, in a file that only its owner can read.
 * @throws StoreError if it cannot be created; ConfigError if the file is incomplete
 */
export function readOrCreateSecret(folder: string): string {
  try {
    createFile(secretPath(folder), randomBytes(32).toString('base64url'));
  } catch (error) {
    throw new StoreError(`DATA_DIR is not writable (${errorCodeOf(error) ?? 'unknown'})`);
  }
  return readSecret(folder);
}

/** @throws ConfigError if the file exists and its secret is incomplete or cannot be read */
export function checkSecretFile(folder: string): void {
  if (hasSecretFile(folder)) readSecret(folder);
}

export function hasSecretFile(folder: string): boolean {
  return existsSync(secretPath(folder));
}

export function secretPath(folder: string): string {
  return join(folder, 'store-secret');
}

function readSecret(folder: string): string {
  const path = secretPath(folder);
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError([`DATA_DIR: ${path} cannot be read; allow the user of the gateway to read it`]);
  }
  if (secret.length >= secretLength) return secret;
  throw new ConfigError([
    `DATA_DIR: ${path} has ${secret.length} characters and must have ${secretLength}: it encrypts the stored essays; ` +
      'restore it from a backup, or delete it, and lose the essays that it encrypted',
  ]);
}

/** Characters of 32 bytes in Base64url. */
const secretLength = 43;
