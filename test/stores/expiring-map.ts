/** A map whose entries expire. The expired ones are dropped a few at a time, as new ones come, without any timer. */
export interface ExpiringMap<T> {
  get(key: string): Expiring<T> | undefined;
  set(key: string, entry: Expiring<T>): void;
  delete(key: string): void;
  clear(): void;
  /** Entries held, expired ones among them. */
  size(): number;
}

export interface Expiring<T> {
  value: T;
  /** In milliseconds of the clock in use. */
  expiresAt: number;
}

/** Two, so that the sweep comes around faster than the map grows: at a steady rate at most half of it has expired. */
const sweptPerSet = 2;

export function createExpiringMap<T>(now: () => number): ExpiringMap<T> {
  const entries = new Map<string, Expiring<T>>();
  let sweep = entries.entries();

  function sweepSome(): void {
    for (let step = 0; step < sweptPerSet; step++) {
      const next = sweep.next();
      if (next.done) {
        sweep = entries.entries();
        return;
      }
      const [key, { expiresAt }] = next.value;
      if (expiresAt <= now()) entries.delete(key);
    }
  }

  return {
    get(key) {
      const entry = entries.get(key);
      return entry && entry.expiresAt > now() ? entry : undefined;
    },
    set(key, entry) {
      sweepSome();
      entries.set(key, entry);
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
    size: () => entries.size,
  };
}
