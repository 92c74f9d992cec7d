import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Secrets } from '../../stores/sealed-store.ts';
import { StoreError } from '../../stores/store.ts';

/**
 * The ids of IBAN validations: encrypted IBANs, because an id may be in a URL, in the log of a client, or in a supergraph contract
 * without personal data. The same IBAN always has the same id, as caches of clients need it.
 */
export interface IbanIds {
  write(iban: string): string;
  /** Null if none of the secrets has written it. */
  read(id: string): string | null;
}

/**
 * Derives its keys on first use: a gateway without queries for ids needs no secret. While a secret cannot be created, as on a full disk,
 * ids are valid in this process only: a look-up that was paid for must not be lost with its id.
 * @param readSecrets returns the present secret first, which writes ids; all of them read ids
 */
export function createIbanIds(readSecrets: () => Secrets): IbanIds {
  const derived = new Map<string, Keys>();
  let temporary: string | undefined;

  return {
    write(iban) {
      const { cipherKey, ivKey } = keysOf(loadSecrets()[0]);
      const iv = ivOf(iban, ivKey);
      const cipher = createCipheriv(algorithm, cipherKey, iv);
      return ibanIdPrefix + Buffer.concat([iv, cipher.update(iban), cipher.final()]).toString('base64url');
    },
    read(id) {
      const bytes = Buffer.from(id.slice(ibanIdPrefix.length), 'base64url');
      if (!id.startsWith(ibanIdPrefix) || bytes.length < ivBytes) return null;
      const iv = bytes.subarray(0, ivBytes);
      for (const secret of loadSecrets()) {
        const { cipherKey, ivKey } = keysOf(secret);
        const decipher = createDecipheriv(algorithm, cipherKey, iv);
        const iban = Buffer.concat([decipher.update(bytes.subarray(ivBytes)), decipher.final()]).toString();
        if (ivOf(iban, ivKey).equals(iv)) return iban;
      }
      return null;
    },
  };

  function loadSecrets(): Secrets {
    try {
      return readSecrets();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      temporary ??= randomBytes(32).toString('base64url');
      return [temporary];
    }
  }

  function keysOf(secret: string): Keys {
    const keys = derived.get(secret) ?? deriveKeys(secret);
    derived.set(secret, keys);
    return keys;
  }
}

/** Derived from the IBAN, as in AES-SIV (RFC 5297), so that it also shows whether an id was changed. */
function ivOf(iban: string, ivKey: Buffer): Buffer {
  return createHmac('sha256', ivKey).update(iban).digest().subarray(0, ivBytes);
}

export const ibanIdPrefix = 'iban-';

const algorithm = 'aes-256-ctr';
const ivBytes = 16;

interface Keys {
  cipherKey: Buffer;
  ivKey: Buffer;
}

function deriveKeys(secret: string): Keys {
  return { cipherKey: derive(secret, 'cipher'), ivKey: derive(secret, 'initialization vector') };
}

function derive(secret: string, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `ids of IBAN validations: ${use}`, 32));
}
