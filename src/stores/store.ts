/**
 * Where the gateway keeps what outlives one request. All stores keep to the same rules:
 * - values, counters and locks do not see each other, even under the same key;
 * - a key is at most `maxKeyLength` characters; one that is longer or personal is hashed first (`createKeyHash`);
 * - what expires in n milliseconds is gone once n have passed;
 * - what cannot be done fails with a StoreError, and then a write may or may not have taken place.
 */
export interface Store {
  /** The value, or null where there is none or it has expired. */
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: Expiry): Promise<void>;
  /**
   * Adds a whole number, also a negative one, to a counter, atomically over all processes. A counter that is not there
   * counts from 0. The expiry is that of its first `add`; later ones do not prolong it. Adding 0 only reads.
   * @returns the sum
   */
  add(key: string, amount: number, options: Expiry): Promise<number>;
  /** Takes a lock that nobody else holds; null where somebody does. It falls to the next when it expires. */
  lock(key: string, options: Expiry): Promise<Lock | null>;
  /** Lets writes under way finish, within bounds. Afterwards nothing works any more; closing again does nothing. */
  close(): Promise<void>;
}

export interface Lock {
  /** Frees it for the next; does nothing where it was lost meanwhile. */
  release(): Promise<void>;
  /** Holds it this long from now on; false where it was lost meanwhile. */
  extend(options: Expiry): Promise<boolean>;
}

export interface Expiry {
  /** More than 0; parts of a millisecond are rounded up. */
  expiresInMs: number;
}

/** Says why in a word or two, and holds no address, no credentials, no key and no value: it may be logged as it is. */
export class StoreError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`The store failed: ${reason}`);
    this.name = 'StoreError';
    this.reason = reason;
  }
}

/** What LMDB can hold, in the worst case of three bytes per character. */
export const maxKeyLength = 500;

/** Refuses a key that not every store could hold. @throws RangeError */
export function checkKey(key: string): string {
  if (key.length <= maxKeyLength) return key;
  throw new RangeError(`A key has at most ${maxKeyLength} characters; hash what is longer`);
}

/** The expiry in whole milliseconds. @throws RangeError */
export function readExpiry({ expiresInMs }: Expiry): number {
  const wholeMs = Math.ceil(expiresInMs);
  if (wholeMs > 0 && Number.isSafeInteger(wholeMs)) return wholeMs;
  throw new RangeError('An expiry is a number of milliseconds above 0');
}

/** Refuses what not every store could add. @throws RangeError */
export function checkAmount(amount: number): number {
  if (Number.isSafeInteger(amount)) return amount;
  throw new RangeError('Only whole numbers can be added to a counter');
}
