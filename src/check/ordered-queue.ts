/** Values in the order in which they were added, of which some wait for answers. */
export class OrderedQueue<Value> {
  /** Those before `#taken` were taken. */
  readonly #entries: { value: Value | Promise<Value>; isKnown: boolean }[] = [];
  #taken = 0;

  /** How many are not taken yet. */
  get length(): number {
    return this.#entries.length - this.#taken;
  }

  add(value: Value | Promise<Value>): void {
    const entry = { value, isKnown: !(value instanceof Promise) };
    this.#entries.push(entry);
    const settle = () => {
      entry.isKnown = true;
    };
    // A failure is thrown where it is waited for.
    if (value instanceof Promise) value.then(settle, () => {});
  }

  clear(): void {
    this.#entries.length = this.#taken = 0;
  }

  /** Those that are known, and others while they must be waited for. */
  async *take(mustWait: () => boolean): AsyncGenerator<Value> {
    for (let entry = this.#entries[this.#taken]; entry !== undefined; entry = this.#entries[this.#taken]) {
      if (!entry.isKnown && !mustWait()) break;
      const value = await entry.value;
      this.#taken += 1;
      yield value;
    }
    this.#entries.splice(0, this.#taken);
    this.#taken = 0;
  }
}
