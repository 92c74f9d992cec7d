import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { StoreError } from '../../stores/store.ts';

/**
 * The ids of IBAN validations: encrypted IBANs, because an id may be in a URL, in the log of a client, or in a supergraph contract
 * without personal data. The same IBAN always has the same id, as caches of clients need it.
 */
export interface IbanIds {
  write(iban: string): string;
  /** Null if this secret has not written it. */
  read(id: string): string | null;
}

/**
 * Derives its keys on first use: a gateway without queries for ids needs no secret. While it cannot be created, as on a full disk, ids
 * are those of this process: a look-up that was paid for must not be lost with its id.
 */
export function createIbanIds(readSecret: () => string): IbanIds {
  let derived: Keys | undefined;
  let temporary: Keys | undefined;
  const keys = () => {
    try {
      derived ??= deriveKeys(readSecret());
      return derived;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      temporary ??= deriveKeys(randomBytes(32).toString('base64url'));
      return temporary;
    }
  };

  /** Derived from the IBAN, as in AES-SIV (RFC 5297), so that it also shows whether an id was changed. */
  const ivOf = (iban: string) => createHmac('sha256', keys().ivKey).update(iban).digest().subarray(0, ivBytes);

  return {
    write(iban) {
      const iv = ivOf(iban);
      const cipher = createCipheriv(algorithm, keys().cipherKey, iv);
      return ibanIdPrefix + Buffer.concat([iv, cipher.update(iban), cipher.final()]).toString('base64url');
    },
    read(id) {
      const bytes = Buffer.from(id.slice(ibanIdPrefix.length), 'base64url');
      if (!id.startsWith(ibanIdPrefix) || bytes.length < ivBytes) return null;
      const iv = bytes.subarray(0, ivBytes);
      const decipher = createDecipheriv(algorithm, keys().cipherKey, iv);
      const iban = Buffer.concat([decipher.update(bytes.subarray(ivBytes)), decipher.final()]).toString();
      return ivOf(iban).equals(iv) ? iban : null;
    },
  };
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
