/** The part of an `AbortSignal` that the gateway uses. An `AbortSignal` is one. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal with its `abort` function. Each request needs several, and an `AbortController` costs far more. */
export class AbortableSignal implements Signal {
  aborted = false;
  reason: unknown = undefined;
  /**
   * Not a Set: when a Set grows or shrinks, V8 lets the old table refer to the new one. An old table in the old generation then
   * keeps all that later listeners refer to, until the next full garbage collection.
   */
  #listeners: (() => void)[] | null = null;

  /** Calls all listeners, except those that another listener removes before their turn. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    while (this.#listeners?.length) this.#listeners.shift()?.();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index !== -1) this.#listeners?.splice(index, 1);
  }
}
