import { SyncPromise } from '../../async/sync-promise.ts';

/**
 * Limits the time that each turn of the event loop spends on documents that are not known; further ones wait for the next
 * turns. Preparing a document takes several times as long as a request with a known one, so clients that send a new document
 * each time would otherwise take most of the time from all others. While there are others, one in every two turns prepares a
 * document; while there are none, each turn prepares several.
 */
export interface PreparationTurns {
  /** Whether a further document has to wait. */
  areFull(): boolean;
  /** Called when a document is prepared. */
  begin(): void;
  /** Called when a document was known, or not needed because its reply was kept. */
  countKnown(): void;
  /** Resolves in a later turn, in the order of the calls. */
  wait(): PromiseLike<void>;
}

export function createPreparationTurns(): PreparationTurns {
  const waiting: SyncPromise<void>[] = [];
  /** When the first document of this turn was prepared; null if there was none. */
  let begunAt: number | null = null;
  /** Requests with known documents, in this turn and in the one before. */
  let known = 0;
  let knownBefore = 0;
  /** Whether this turn prepares none, as the one before prepared one beside requests with known documents. */
  let rests = false;

  return {
    areFull: () => waiting.length > 0 || !hasTime(),
    begin() {
      if (begunAt !== null) return;
      begunAt = performance.now();
      setImmediate(next);
    },
    countKnown() {
      known += 1;
    },
    wait() {
      const turn = new SyncPromise<void>();
      waiting.push(turn);
      return turn;
    },
  };

  function hasTime(): boolean {
    return begunAt === null || (known + knownBefore === 0 && performance.now() - begunAt <= maxMs);
  }

  function next(): void {
    knownBefore = known;
    known = 0;
    rests = knownBefore > 0 && !rests;
    if (rests) {
      setImmediate(next);
      return;
    }
    begunAt = null;
    // Those whose document is known by now do not begin a turn.
    while (hasTime()) {
      const first = waiting.shift();
      if (first === undefined) return;
      first.resolve();
    }
  }
}

/** In milliseconds of a turn without known documents. */
const maxMs = 1;
