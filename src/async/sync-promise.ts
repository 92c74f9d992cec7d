/**
 * A promise that calls its continuation within the call that settles it, where a `Promise` waits for a microtask: for the
 * chain of functions that each upstream call goes through. It has one continuation. If that is attached after the promise
 * has settled, it is called in a microtask, so that tasks which end at once and start the next one are no recursion.
 */
export class SyncPromise<Value> implements PromiseLike<Value> {
  #state: 'pending' | 'resolved' | 'rejected' = 'pending';
  /** The value or the reason. */
  #result: unknown;
  #onResolved: ((value: Value) => unknown) | null = null;
  #onRejected: ((reason: unknown) => unknown) | null = null;
  /** Of the continuation; null while there is none. */
  #next: SyncPromise<unknown> | null = null;
  /** Rejected if this one was rejected without a continuation. */
  #unhandled: Promise<never> | null = null;

  /** Settles as another promise does. */
  static from<Value>(promise: PromiseLike<Value>): SyncPromise<Value> {
    const following = new SyncPromise<Value>();
    following.#follow(promise);
    return following;
  }

  /** With this value, even if it is a promise. Ignored if it has settled before. */
  resolve(value: Value): void {
    this.#settle('resolved', value);
  }

  /** Ignored if it has settled before. A rejection that nothing handles is reported like that of a `Promise`. */
  reject(reason: unknown): void {
    if (this.#state !== 'pending') return;
    this.#settle('rejected', reason);
    // Until there is a continuation, Node.js tracks this one.
    if (this.#next === null) this.#unhandled = Promise.reject(reason);
  }

  // biome-ignore lint/suspicious/noThenProperty: It can be awaited and returned to other promises.
  then<Result = Value, OtherResult = never>(
    onResolved?: ((value: Value) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => OtherResult | PromiseLike<OtherResult>) | null,
  ): PromiseLike<Result | OtherResult> {
    if (this.#next !== null) throw new Error('A SyncPromise has one continuation, and this one has it already.');
    const next = new SyncPromise<Result | OtherResult>();
    this.#next = next as SyncPromise<unknown>;
    this.#onResolved = onResolved ?? null;
    this.#onRejected = onRejected ?? null;
    this.#unhandled?.catch(() => {});
    if (this.#state !== 'pending') queueMicrotask(() => this.#continue());
    return next;
  }

  #settle(state: 'resolved' | 'rejected', result: unknown): void {
    if (this.#state !== 'pending') return;
    this.#state = state;
    this.#result = result;
    this.#continue();
  }

  #continue(): void {
    const next = this.#next;
    if (next === null) return;
    const handle = this.#state === 'resolved' ? this.#onResolved : this.#onRejected;
    if (handle === null) {
      if (this.#state === 'resolved') next.resolve(this.#result);
      else next.reject(this.#result);
      return;
    }
    try {
      next.#follow(handle(this.#result as Value));
    } catch (error) {
      next.reject(error);
    }
  }

  #follow(result: unknown): void {
    if (isPromiseLike<Value>(result)) result.then(this.resolve.bind(this), this.reject.bind(this));
    else this.resolve(result as Value);
  }
}

function isPromiseLike<Value>(value: unknown): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
