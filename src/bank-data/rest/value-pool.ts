import { maxPooledLength } from './text-pool.ts';

/** Returns the last value that it has received for a key, if this one is equal. */
export type PoolValue<Value extends object> = (key: string, value: Value) => Value;

/**
 * Keeps objects of short texts that many answers contain, so that those in the cache share them.
 * @param maxKeys when there are more, the pool is emptied
 */
export function createValuePool<Value extends object>(maxKeys: number): PoolValue<Value> {
  const values = new Map<string, Value>();
  return (key, value) => {
    const known = values.get(key);
    if (known !== undefined && isSame(known, value)) return known;
    if (hasLongText(value)) return value;
    if (known === undefined && values.size >= maxKeys) values.clear();
    values.set(key, value);
    return value;
  };
}

/** The pool is not part of the cache's limit, so an upstream must not fill it with long texts. */
function hasLongText(value: object): boolean {
  return Object.values(value).some((text) => typeof text === 'string' && text.length > maxPooledLength);
}

/** Of two objects with the same names. */
function isSame<Value extends object>(one: Value, other: Value): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  return true;
}
