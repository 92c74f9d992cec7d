export interface SlotMap<Value> {
  get(key: string): Value | null;
  /** Replaces the value of the same key. @returns its slot */
  set(key: string, value: Value): number;
  /** The value in a slot, which may be a later one's; null if it was deleted. */
  at(slot: number): Value | null;
  /** @param slot the one that `set` returned for this key */
  delete(key: string, slot: number): void;
}

/**
 * A map for values that stay in it for a short time. A `Map` that is used for long allocates its tables in the old
 * generation, and all that a former table refers to stays in memory until the next full garbage collection. Here, the
 * table contains numbers of slots, which are used again. With its slot, a value is read without a look-up.
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
      const known = slots.get(key);
      const slot = known ?? free.pop() ?? values.length;
      if (known === undefined) slots.set(key, slot);
      values[slot] = value;
      return slot;
    },
    at: (slot) => values[slot] ?? null,
    delete(key, slot) {
      if (!slots.delete(key)) return;
      values[slot] = null;
      free.push(slot);
    },
  };
}
