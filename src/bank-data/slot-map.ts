export interface SlotMap<Value> {
  get(key: string): Value | null;
  /** Replaces the value of the same key. */
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/**
 * A map for values that stay in it for a short time. A `Map` that is used for long allocates its tables in the old
 * generation, and all that a former table refers to stays in memory until the next full garbage collection. Here, the
 * table contains numbers of slots, which are used again.
 */
export function createSlotMap<Value>(): SlotMap<Value> {
  const slots = new Map<string, number>();
  const values: (Value | null)[] = [];
  const free: number[] = [];

  return {
    get(key) {
      const slot = slots.get(key);
      return slot === undefined ? null : (values[slot] ?? null);
    },
    set(key, value) {
      const slot = slots.get(key) ?? free.pop() ?? values.length;
      slots.set(key, slot);
      values[slot] = value;
    },
    delete(key) {
      const slot = slots.get(key);
      if (slot === undefined) return;
      slots.delete(key);
      values[slot] = null;
      free.push(slot);
    },
  };
}
