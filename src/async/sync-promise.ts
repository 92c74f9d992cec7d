/**
 * Continues when something has settled: one of its functions is called, once. An object, since functions would keep their
 * variables for every call in flight. Its functions must not throw.
 */
export interface Continuation<Value> {
  onResolved(value: Value): void;
  onRejected(reason: unknown): void;
}

/**
 * A promise that calls its continuation within the call that settles it, where a `Promise` waits for a microtask: for the
 * chain of functions that each upstream call goes through. It has one continuation. If that is attached after the promise
 * has settled, it is called in a microtask, so that tasks which end at once and start the next one are no recursion. It has
 * no subclasses: its functions are the faster, the fewer kinds of objects they are called on.
 */
export class SyncPromise<Value> implements PromiseLike<Value> {
  #state: 'pending' | 'resolved' | 'rejected' = 'pending';
  /** The value or the reason. */
  #result: unknown;
  #continuation: Continuation<Value> | null = null;
  /** Rejected if this one was rejected without a continuation. */
  #unhandled: Promise<never> | null = null;

  /** Settles as another promise does. */
  static from<Value>(promise: PromiseLike<Value>): SyncPromise<Value> {
    const following = new SyncPromise<Value>();
    following.follow(promise);
    return following;
  }

  /** Calls the continuation with the result of any promise. */
  static continue<Value>(promise: PromiseLike<Value>, continuation: Continuation<Value>): void {
    if (promise instanceof SyncPromise) promise.continueWith(continuation);
    else
      promise.then(
        (value) => continuation.onResolved(value),
        (reason) => continuation.onRejected(reason),
      );
  }

  /** With this value, even if it is a promise. Ignored if it has settled before. */
  resolve(value: Value): void {
    if (this.#state !== 'pending') return;
    this.#state = 'resolved';
    this.#result = value;
    this.#continuation?.onResolved(value);
  }

  /** Ignored if it has settled before. A rejection that nothing handles is reported like that of a `Promise`. */
  reject(reason: unknown): void {
    if (this.#state !== 'pending') return;
    this.#state = 'rejected';
    this.#result = reason;
    // Until there is a continuation, Node.js tracks this one.
    if (this.#continuation === null) this.#unhandled = Promise.reject(reason);
    else this.#continuation.onRejected(reason);
  }

  /** Settles as another promise does. */
  follow(promise: PromiseLike<Value>): void {
    SyncPromise.continue(promise, new Following(this));
  }

  /** Like `then`, without another promise. */
  continueWith(continuation: Continuation<Value>): void {
    if (this.#continuation !== null)
      throw new Error('A SyncPromise has one continuation, and this one has it already.');
    this.#continuation = continuation;
    if (this.#state === 'pending') return;
    this.#unhandled?.catch(() => {});
    queueMicrotask(() => {
      if (this.#state === 'resolved') continuation.onResolved(this.#result as Value);
      else continuation.onRejected(this.#result);
    });
  }

  // biome-ignore lint/suspicious/noThenProperty: It can be awaited and returned to other promises.
  then<Result = Value, OtherResult = never>(
    onResolved?: ((value: Value) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => OtherResult | PromiseLike<OtherResult>) | null,
  ): SyncPromise<Result | OtherResult> {
    const next = new SyncPromise<Result | OtherResult>();
    this.continueWith(new Handlers<Value, Result | OtherResult>(next, onResolved, onRejected));
    return next;
  }

  /** DataLoader calls it. */
  catch<Result = never>(
    onRejected?: ((reason: unknown) => Result | PromiseLike<Result>) | null,
  ): SyncPromise<Value | Result> {
    return this.then(null, onRejected);
  }
}

/** A promise for the result of a function that takes a continuation. */
export function toPromise<Value>(start: (continuation: Continuation<Value>) => void): Promise<Value> {
  return new Promise((onResolved, onRejected) => start({ onResolved, onRejected }));
}

type Handle<Input, Result> = ((input: Input) => Result | PromiseLike<Result>) | null;

/** Settles the promise that `then` returns. */
class Handlers<Value, Result> implements Continuation<Value> {
  readonly #next: SyncPromise<Result>;
  readonly #handleValue: Handle<Value, Result>;
  readonly #handleReason: Handle<unknown, Result>;

  constructor(
    next: SyncPromise<Result>,
    handleValue: Handle<Value, Result> = null,
    handleReason: Handle<unknown, Result> = null,
  ) {
    this.#next = next;
    this.#handleValue = handleValue;
    this.#handleReason = handleReason;
  }

  onResolved(value: Value): void {
    if (this.#handleValue === null) this.#next.resolve(value as unknown as Result);
    else this.#handle(this.#handleValue, value);
  }

  onRejected(reason: unknown): void {
    if (this.#handleReason === null) this.#next.reject(reason);
    else this.#handle(this.#handleReason, reason);
  }

  #handle<Input>(handle: NonNullable<Handle<Input, Result>>, input: Input): void {
    let result: Result | PromiseLike<Result>;
    try {
      result = handle(input);
      if (isPromiseLike(result)) {
        this.#next.follow(result);
        return;
      }
    } catch (error) {
      this.#next.reject(error);
      return;
    }
    this.#next.resolve(result);
  }
}

class Following<Value> implements Continuation<Value> {
  readonly #promise: SyncPromise<Value>;

  constructor(promise: SyncPromise<Value>) {
    this.#promise = promise;
  }

  onResolved(value: Value): void {
    this.#promise.resolve(value);
  }

  onRejected(reason: unknown): void {
    this.#promise.reject(reason);
  }
}

function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
