import { createHmac, randomUUID } from 'node:crypto';
import type { StoreFailure } from '../../base/errors.ts';

/**
 * Data that outlives a request. Rules for all stores:
 * - values and counters are separate, even under the same key;
 * - a key has at most `maxKeyLength` characters; the caller hashes longer and personal ones (`createKeyHash`);
 * - an entry that expires in n milliseconds is gone after n milliseconds;
 * - failures are StoreErrors; a failed write may or may not have taken effect.
 */
export interface Store {
  /** The value; null if missing or expired. */
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: Expiry): Promise<void>;
  /**
   * Replaces the value if it is still the one that was seen, atomically across processes. Null: there is none. False: there was another
   * one, and nothing was changed. With it, in one transaction, further values are written or removed: `also`. Only the nodes of a Redis
   * Cluster have no transaction: there, these are written before it, and removed after it.
   */
  replace(key: string, seen: string | null, next: string | null, options: ReplaceOptions): Promise<boolean>;
  /** Removes the value, if there is one. */
  delete(key: string): Promise<void>;
  /**
   * Adds an integer, possibly negative, to a counter, atomically across processes. A missing counter starts at 0. Its
   * first `add` sets the expiry; later ones do not extend it. Adding 0 only reads.
   *
   * `known` is what an earlier `add` returned. If the store has lost that counter since, its sum is added back, once for
   * all processes: the first one adds the sum that it knew, and a later one only what it knew in addition.
   */
  add(key: string, amount: number, options: Expiry & { known?: KnownCount | null }): Promise<Count>;
  /** Adds to several counters, as `add` does, in one operation. @returns their sums */
  addAll(amounts: readonly CounterAmount[]): Promise<number[]>;
  /** Completes pending writes, within a time limit. Later calls fail; closing again has no effect. */
  close(): Promise<void>;
}

export interface Expiry {
  /** More than 0; fractions are rounded up. */
  expiresInMs: number;
}

export interface ReplaceOptions extends Expiry {
  /** Null: it is removed. */
  also?: readonly { key: string; value: string | null }[];
}

export interface CounterAmount extends Expiry {
  key: string;
  amount: number;
}

export interface KnownCount {
  sum: number;
  /** Random: a counter that was lost, and begins again, has another one. Empty if there is no counter. */
  id: string;
}

export interface Count extends KnownCount {
  /** What this call has added back. */
  restored: number;
}

export type CallKind = 'read' | 'change' | 'write';

/**
 * Runs each call of a store within a function. Adding 0 to a counter is a read, too. A `change` may succeed in a full store: it deletes,
 * or finds that nothing is to be written.
 */
export function withCalls(
  store: Store,
  around: <Result>(kind: CallKind, call: () => Promise<Result>) => Promise<Result>,
): Store {
  return {
    get: (key) => around('read', () => store.get(key)),
    set: (...args) => around('write', () => store.set(...args)),
    replace: (...args) => around('change', () => store.replace(...args)),
    delete: (key) => around('change', () => store.delete(key)),
    add: (key, amount, options) => around(amount === 0 ? 'read' : 'write', () => store.add(key, amount, options)),
    addAll: (amounts) => around('write', () => store.addAll(amounts)),
    close: () => store.close(),
  };
}

/** The value of the key, which is this one if there was none. All processes get the same. */
export async function getOrCreate(
  store: Pick<Store, 'get' | 'replace'>,
  key: string,
  value: string,
  options: Expiry,
): Promise<string> {
  const stored = await store.get(key);
  if (stored !== null) return stored;
  const isCreated = await store.replace(key, null, value, options);
  return isCreated ? value : ((await store.get(key)) ?? value);
}

/** The reason can be logged: it contains no address, credentials, key or value. */
export class StoreError extends Error {
  readonly reason: string;
  readonly failure: StoreFailure;

  /** @param failure known where the error is created, or found in the reason */
  constructor(reason: string, failure = findFailure(reason)) {
    super(`The store failed: ${reason}`);
    this.name = 'StoreError';
    this.reason = reason;
    this.failure = failure;
  }
}

function findFailure(reason: string): StoreFailure {
  return failurePatterns.find(([, pattern]) => pattern.test(reason))?.[0] ?? 'other';
}

/** In reasons: words of ours, codes of the system and of LMDB, and the first words of errors of Redis. */
const failurePatterns: readonly (readonly [StoreFailure, RegExp])[] = [
  ['full', /disk is full|^(?:OOM|MISCONF)$|ENOSPC|EDQUOT|MDB_MAP_FULL/],
  ['read-only', /^READONLY$/],
  ['timeout', /timed out/],
  ['credentials', /^(?:WRONGPASS|NOAUTH|NOPERM)$/],
  ['wrong-secret', /^written with another STORE_SECRET/],
  ['corrupt', /damaged|changed or sealed|MDB_(?:CORRUPTED|PAGE_NOTFOUND|INVALID)/],
  ['unreachable', /not connected|connection lost|^(?:E(?!RR$)[A-Z_]+|LOADING|CLUSTERDOWN|MASTERDOWN)$/],
];

/** The limit of LMDB, at three bytes per character in the worst case. */
const maxKeyLength = 500;

/** @throws RangeError if a store could not hold the key */
export function checkKey(key: string): string {
  if (key.length <= maxKeyLength) return key;
  throw new RangeError(`A key must have at most ${maxKeyLength} characters; hash longer ones`);
}

/** The expiry in whole milliseconds. @throws RangeError */
export function checkExpiry({ expiresInMs }: Expiry): number {
  const wholeMs = Math.ceil(expiresInMs);
  if (wholeMs > 0 && Number.isSafeInteger(wholeMs)) return wholeMs;
  throw new RangeError('expiresInMs must be a number above 0');
}

/** @throws RangeError */
export function checkAmount(amount: number): number {
  if (Number.isSafeInteger(amount)) return amount;
  throw new RangeError('The amount added to a counter must be an integer');
}

/** @throws RangeError */
export function checkCounter({ key, amount, ...expiry }: CounterAmount): void {
  checkKey(key);
  checkAmount(amount);
  checkExpiry(expiry);
}

/** A counter as it is stored. */
export interface Counter extends KnownCount {
  /** The part of the sum that was added back after a loss. */
  restored: number;
}

/** The counter after `add`, for stores that compute it themselves. */
export function addToCounter(counter: Counter | null, amount: number, known: KnownCount | null): Counter {
  const { id, sum, restored } = counter ?? { id: '', sum: 0, restored: 0 };
  const missing = known && isLost(counter, known) ? Math.max(0, known.sum - restored) : 0;
  return { id: id || randomUUID(), sum: sum + amount + missing, restored: restored + missing };
}

/** Whether this is not the counter that the process knows. Then adding 0 changes it, too. */
export function isLost(counter: Counter | null, known: KnownCount | null): boolean {
  return known !== null && known.id !== '' && known.id !== counter?.id;
}

/**
 * Hashes keys that must not be readable in the store, such as IBANs. An HMAC, because all possible IBANs could be tried
 * against a plain hash. Gateways that share a store must use the same secret.
 */
export function createKeyHash(secret: string): (text: string) => string {
  return (text) => createHmac('sha256', secret).update(text).digest('base64url');
}
