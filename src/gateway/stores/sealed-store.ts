import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { createFile } from '../../base/data-folder.ts';
import { ConfigError, errorCodeOf } from '../../base/errors.ts';
import { createKeyHash, getOrCreate, type Store, StoreError, withCalls } from './store.ts';

/**
 * Protects personal data in the store: keys are replaced by keyed hashes, values are encrypted (AES-256-GCM). Entries
 * sealed with another secret are not found. Counters stay readable, under hashed keys.
 */
export function withSealing(store: Store, loadKeys: () => SealingKeys): Store {
  /** Entries that were read or replaced lately, by name, as they are sealed in the store. */
  const known = new LRUCache<string, string>({
    maxSize: 4_000_000,
    maxEntrySize: 100_000,
    sizeCalculation: (sealed) => Math.max(1, sealed.length),
  });

  return {
    async get(key) {
      const { hash, unseal } = loadKeys();
      const name = hash(key);
      const sealed = await store.get(name);
      if (sealed !== null) known.set(name, sealed);
      return unseal(sealed, key);
    },
    async set(key, value, options) {
      const { hash, seal } = loadKeys();
      await store.set(hash(key), seal(value, key), options);
    },
    /** The same text is sealed differently each time, so what is compared in the store is what was read from it. */
    async replace(key, seen, next, { also = [], ...expiry }) {
      const { hash, seal, unseal } = loadKeys();
      const name = hash(key);
      const sealOrNull = (value: string | null, key: string) => (value === null ? null : seal(value, key));
      const nextSealed = sealOrNull(next, key);
      const options = {
        ...expiry,
        also: also.map((each) => ({ key: hash(each.key), value: sealOrNull(each.value, each.key) })),
      };
      const replaceSealed = async (sealed: string | null) => {
        if (unseal(sealed, key) !== seen || !(await store.replace(name, sealed, nextSealed, options))) return false;
        if (nextSealed !== null) known.set(name, nextSealed);
        return true;
      };
      const last = known.get(name) ?? null;
      known.delete(name);
      return (await replaceSealed(last)) || replaceSealed(await store.get(name));
    },
    delete: async (key) => store.delete(loadKeys().hash(key)),
    add: async (key, amount, options) => store.add(loadKeys().hash(key), amount, options),
    addAll: async (amounts) => {
      const { hash } = loadKeys();
      return store.addAll(amounts.map(({ key, amount, expiresInMs }) => ({ key: hash(key), amount, expiresInMs })));
    },
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

export type Sealing = ReturnType<typeof createSealing>;

/** The secret in use, and others that may have been used before, or are used by other gateways. */
export type Secrets = readonly [present: string, ...others: string[]];

/**
 * The secrets of a store: the present one seals values, all of them open values. The key of the names remains that of the first secret, and
 * is in the check value: so gateways that use different secrets meanwhile share counters and orders.
 * @param readSecret called on first use: a gateway that stores nothing needs no secret and no folder for it
 */
export function createSealing(readSecret: () => string, oldSecret: string | null = null) {
  let secrets: Secrets | null = null;
  /** Those of before: what is stored with them can still be read. */
  let former: readonly string[] = [];
  let keys: SealingKeys | null = null;
  /** As the check value has it; null: it was not read yet. */
  let nameKey: string | null = null;

  function loadSecrets(): Secrets {
    secrets ??= listUnique(readSecret(), oldSecret);
    return secrets;
  }

  const present = () => loadSecrets()[0];

  return {
    /** Those of the configuration, the present one first: nothing else is accepted from clients. */
    secrets: loadSecrets,
    loadKeys(): SealingKeys {
      keys ??= deriveKeys([...loadSecrets(), ...former], nameKey ?? nameKeyOf(present()));
      return keys;
    },
    /** Values are sealed with this secret from now on. Those that were known before still open values in the store. */
    use(secret: string, old: string | null): void {
      former = listUnique(...loadSecrets(), ...former);
      secrets = listUnique(secret, old);
      keys = null;
    },
    /** A value that only the present secret opens. */
    createCheckValue(): string {
      const isOwn = nameKey === null || nameKey === nameKeyOf(present());
      return checkSealOf(present()).seal(isOwn ? checkText : `${checkText}:${nameKey}`, checkText);
    },
    /** Whether one of the secrets opens the check value of a store, whose names are used from then on. */
    opens(value: string): boolean {
      const secret = [...loadSecrets(), ...former].find((each) => openCheckValue(each, value) !== null);
      if (secret === undefined) return false;
      const found = openCheckValue(secret, value) || nameKeyOf(secret);
      if (found !== nameKey) keys = null;
      nameKey = found;
      return true;
    },
    isPresent: (value: string) => openCheckValue(present(), value) !== null,
  };
}

function listUnique(present: string, ...others: (string | null)[]): Secrets {
  const known = new Set(others.filter((other) => other !== null));
  known.delete(present);
  return [present, ...known];
}

function checkSealOf(secret: string): Pick<SealingKeys, 'seal' | 'unseal'> {
  return createSeal(derive(secret, 'check'));
}

/** The key of the names; empty: that of the secret itself. Null if the secret does not open the check value. */
function openCheckValue(secret: string, value: string): string | null {
  try {
    const [text, nameKey = ''] = checkSealOf(secret).unseal(value, checkText)?.split(':') ?? [];
    return text === checkText ? nameKey : null;
  } catch {
    return null;
  }
}

function nameKeyOf(secret: string): string {
  return derive(secret, 'keys').toString('base64');
}

/** The name is readable: gateways with another secret must find it, too. */
export const checkValueKey = 'secret-check';

/** A century: it must not expire before the data that it protects. */
export const checkValueExpiry = { expiresInMs: 100 * 365 * 86_400_000 };

/**
 * Makes sure that the store was written with one of the secrets: with another one, what was paid for would not be found, and
 * would be paid for again. The store has a check value, which only the secret opens. The first write creates it; before it
 * was read, and while it belongs to another secret, nothing else is read or written.
 * @param checked the store that is used then, such as a sealed one
 * @param wasWritten whether it had a check value before, so that one without has lost its data
 */
export function withSecretCheck(store: Store, sealing: Sealing, checked = store, wasWritten = false) {
  let isChecked = false;
  /** What the last check has found, also while the next one runs. */
  let isOurs = false;

  function check(value: string): void {
    isChecked = sealing.opens(value);
    isOurs = isChecked;
    if (!isChecked) throw new StoreError('written with another STORE_SECRET: all gateways need the same');
  }

  async function checkStored(): Promise<string | null> {
    const value = await store.get(checkValueKey);
    if (value !== null) check(value);
    return value;
  }

  async function checkOrCreate(): Promise<void> {
    const stored = await checkStored();
    if (stored === null && wasWritten) throw new StoreError('damaged: what was written to it is lost');
    const own = sealing.createCheckValue();
    if (stored === null) check(await getOrCreate(store, checkValueKey, own, checkValueExpiry));
    // After a change of the secret. If another gateway replaces it at the same time, the value of that one remains.
    else if (!sealing.isPresent(stored)) await store.replace(checkValueKey, stored, own, checkValueExpiry);
  }

  return {
    ...withCalls(checked, async (kind, call) => {
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
    /** Finds the names of the check value, or writes it again, if the store has lost its data unnoticed. @throws StoreError */
    checkNames: checkOrCreate,
  };
}

const checkText = 'ledgerquill';

/**
 * After a loss of data, a gateway that starts may choose other names than the running ones: they find them within the 3 s that orders
 * with a key then wait, so that none is paid for under two names.
 */
export const checkNamesEveryMs = 1_000;

/** @param secrets the present one and others */
function deriveKeys(secrets: readonly string[], nameKey: string): SealingKeys {
  const [present, ...others] = secrets.map((secret) => createSeal(derive(secret, 'values')));
  if (present === undefined) throw new Error('a store needs a secret');
  return {
    hash: createKeyHash(nameKey),
    ...present,
    unseal(text, key) {
      let failure: unknown;
      for (const { unseal } of [present, ...others]) {
        try {
          return unseal(text, key);
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
  };
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
