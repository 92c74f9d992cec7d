import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { createKeyHash, type KeyHash } from './key-hash.ts';
import { type Store, StoreError } from './store.ts';

/**
 * Keeps what is personal from whoever can read the store: keys become keyed hashes, values are encrypted
 * (AES-256-GCM). What another secret sealed is as good as not there. Counters stay readable, under hashed keys.
 * @param readSecret called at the first use
 */
export function withSealing(store: Store, readSecret: () => string): Store {
  let keys: Keys | undefined;
  /** Only now: a gateway that keeps nothing needs no secret, and no folder to keep it in. */
  const open = () => {
    keys ??= deriveKeys(readSecret());
    return keys;
  };
  return {
    async get(key) {
      const { hashKey, valueKey } = open();
      const box = await store.get(hashKey(key));
      return box === null ? null : unseal(box, valueKey, key);
    },
    async set(key, value, options) {
      const { hashKey, valueKey } = open();
      await store.set(hashKey(key), seal(value, valueKey, key), options);
    },
    add: async (key, amount, options) => store.add(open().hashKey(key), amount, options),
    lock: async (key, options) => store.lock(open().hashKey(key), options),
    close: () => store.close(),
  };
}

interface Keys {
  hashKey: KeyHash;
  valueKey: Buffer;
}

function deriveKeys(secret: string): Keys {
  return { hashKey: createKeyHash(derive(secret, 'keys').toString('base64')), valueKey: derive(secret, 'values') };
}

const nonceBytes = 12;
const tagBytes = 16;

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `ledgerquill store: ${purpose}`, 32));
}

/** The key goes in as associated data, so that a value cannot be moved to another key. */
function seal(value: string, valueKey: Buffer, key: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', valueKey, nonce).setAAD(Buffer.from(key));
  const box = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([box, cipher.getAuthTag()]).toString('base64');
}

function unseal(text: string, valueKey: Buffer, key: string): string {
  const box = Buffer.from(text, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', valueKey, box.subarray(0, nonceBytes)).setAAD(Buffer.from(key));
    decipher.setAuthTag(box.subarray(-tagBytes));
    const value = decipher.update(box.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([value, decipher.final()]).toString('utf8');
  } catch {
    throw new StoreError('a value was changed or sealed with another secret');
  }
}
