/** The part of an `AbortSignal` that the gateway uses. An `AbortSignal` is one. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

/** An object as a listener needs no function of its own. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** A signal with its `abort` function. It costs as much as an object, where an `AbortController` takes microseconds. */
export class AbortableSignal implements Signal {
  aborted = false;
  reason: unknown = undefined;
  /** Most signals have one listener at a time; only the second creates a set. */
  #first: AbortListener | null = null;
  #others: Set<AbortListener> | null = null;

  /** Calls all listeners, once, but none that another one has removed before its turn. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const first = this.#first;
    this.#first = null;
    if (first) call(first);
    for (const listener of this.#others ?? []) call(listener);
    this.#others = null;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.aborted || this.#first === listener) return;
    if (this.#first === null && this.#others === null) {
      this.#first = listener;
      return;
    }
    this.#others ??= new Set();
    this.#others.add(listener);
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.#first === listener) this.#first = null;
    else if (this.#others?.delete(listener) && this.#others.size === 0) this.#others = null;
  }
}

function call(listener: AbortListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}
