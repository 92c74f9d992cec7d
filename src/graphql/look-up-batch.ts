import { type Continuation, SyncPromise } from '../async/sync-promise.ts';
import type { RequestContext } from '../request-context.ts';
import type { Trace } from '../trace.ts';

/**
 * Looks up a batch of keys. It settles each key: a failed look-up is an Error at its position. Only an abort by the client
 * rejects the batch.
 */
export class LookUpBatch<Answer> {
  readonly #settled = new SyncPromise<(Answer | Error)[]>();
  readonly #keys: readonly string[];
  readonly #lookUp: (key: string) => PromiseLike<Answer>;
  readonly #context: RequestContext;
  /** The parent of its calls. */
  readonly #span: Trace | null;
  readonly #answers: (Answer | Error)[];
  #missing: number;
  #next = 0;
  #callsPerTurn = firstCalls;

  constructor(
    keys: readonly string[],
    lookUp: (key: string) => PromiseLike<Answer>,
    context: RequestContext,
    span: Trace | null,
  ) {
    this.#keys = keys;
    this.#lookUp = lookUp;
    this.#context = context;
    this.#span = span;
    this.#answers = new Array<Answer | Error>(keys.length);
    this.#missing = keys.length;
  }

  /** Begins the first look-ups, and the others in the next turns of the event loop. */
  start(): SyncPromise<(Answer | Error)[]> {
    const { signal, usage, trace } = this.#context;
    if (signal.aborted) {
      this.#settled.reject(signal.reason);
      return this.#settled;
    }
    const maxCalls = usage.upstreamCalls + this.#callsPerTurn;
    this.#context.trace = this.#span;
    for (; this.#next < this.#keys.length && usage.upstreamCalls < maxCalls; this.#next += 1) this.#begin(this.#next);
    this.#context.trace = trace;
    this.#callsPerTurn *= 2;
    if (this.#next < this.#keys.length) setImmediate(() => this.start());
    return this.#settled;
  }

  #begin(index: number): void {
    try {
      SyncPromise.continue(this.#lookUp(this.#keys[index] ?? ''), new Item(this, index));
    } catch (error) {
      this.fail(index, error as Error);
    }
  }

  settle(index: number, answer: Answer | Error): void {
    this.#answers[index] = answer;
    this.#missing -= 1;
    if (this.#missing === 0) this.#settled.resolve(this.#answers);
  }

  fail(index: number, error: Error): void {
    const { signal } = this.#context;
    if (signal.aborted) this.#settled.reject(signal.reason);
    else this.settle(index, error);
  }
}

/** Continues when the look-up of one key has ended. */
class Item<Answer> implements Continuation<Answer> {
  readonly #batch: LookUpBatch<Answer>;
  readonly #index: number;

  constructor(batch: LookUpBatch<Answer>, index: number) {
    this.#batch = batch;
    this.#index = index;
  }

  onResolved(answer: Answer): void {
    this.#batch.settle(this.#index, answer);
  }

  onRejected(reason: unknown): void {
    this.#batch.fail(this.#index, reason as Error);
  }
}

/**
 * Undici writes calls at the end of a turn of the event loop. A list begins this many calls in its first turn, and twice as
 * many in each further one, so that the first are on their way while the others are prepared. Look-ups that make no call at
 * once do not count.
 */
const firstCalls = 5;
