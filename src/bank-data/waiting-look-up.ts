import { type Continuation, SyncPromise } from '../async/sync-promise.ts';
import { GatewayError } from '../errors.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import { createShedError } from '../upstream/upstream-error.ts';
import { recordUse } from './cache-entry.ts';
import type { Flight } from './flight.ts';
import type { Flights } from './flights.ts';
import type { LookUp, LookUpResult } from './look-up.ts';
import type { LookUpTable } from './look-up-table.ts';

interface WaitingOptions {
  turns: Pick<Bulkhead, 'wait'>;
  table: Pick<LookUpTable<Flight>, 'entryOf'>;
  flights: Flights;
  /** Looks it up again. */
  find: <Answer extends object>(look: LookUp<Answer>) => PromiseLike<Answer>;
  /** Called when it waits for the flight of another look-up. */
  onJoined: () => void;
}

/** A look-up that waits for a flight. If there is none yet, it first waits for a turn to start one. */
export class WaitingLookUp<Answer extends object> implements Continuation<LookUpResult> {
  readonly answer = new SyncPromise<Answer>();
  readonly #look: LookUp<Answer>;
  readonly #options: WaitingOptions;
  #flight: Flight | null = null;

  constructor(look: LookUp<Answer>, options: WaitingOptions) {
    this.#look = look;
    this.#options = options;
  }

  start(flight: Flight | null): void {
    this.#look.context.activity.begin();
    if (flight === null) this.#waitForTurn();
    else this.#join(flight);
  }

  #join(flight: Flight): void {
    this.#flight = flight;
    flight.join(this.#look.context.signal, this);
  }

  #waitForTurn(): void {
    const { turns, table, flights, onJoined } = this.#options;
    const { key, context } = this.#look;
    // That of the context changes: it is the span of this batch only until all its look-ups have begun.
    const { signal, usage, trace } = context;
    const queuedSince = performance.now();
    turns.wait(usage, signal, (hasTurn) => {
      // The signal may be calling its listeners, one of which has left the turn that this look-up gets.
      if (!hasTurn || signal.aborted) {
        this.onRejected(signal.aborted ? signal.reason : createShedError('bank-data'));
        return false;
      }
      const cached = table.entryOf(key);
      if (cached && Date.now() <= cached.freshUntil) {
        this.onResolved({ entry: cached, isHit: true });
        return false;
      }
      const running = flights.find(key);
      if (running) onJoined();
      this.#join(running ?? flights.start(this.#look, queuedSince, trace));
      return running === null;
    });
  }

  onResolved({ entry, isHit }: LookUpResult): void {
    const { context } = this.#look;
    context.activity.end();
    recordUse(entry, isHit, context);
    this.answer.resolve(entry.answer as Answer);
  }

  onRejected(reason: unknown): void {
    const { context } = this.#look;
    context.activity.end();
    if (this.#flight?.callerId === context.callerId || !isBudgetError(reason)) {
      this.answer.reject(reason);
      return;
    }
    // The budget of the caller who started the flight; this one has another.
    context.usage.lookUps -= 1;
    this.answer.follow(this.#options.find(this.#look));
  }
}

function isBudgetError(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'BUDGET_EXHAUSTED';
}
