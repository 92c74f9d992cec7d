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
  #listeners: Set<() => void> | null = null;

  /** Calls all listeners, once, except those that another listener removes before their turn. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = null;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }
}
