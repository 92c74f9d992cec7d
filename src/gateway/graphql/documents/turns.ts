import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import type { Signal } from '../../../base/async/signal.ts';
import type { TimeSlices } from '../../../base/async/time-slices.ts';
import { Deadline } from '../../upstream/deadline.ts';
import { createCallQueue } from '../../upstream/queue.ts';
import type { RunContext } from '../jit/compiler.ts';

/**
 * Limits the time that each turn of the event loop spends on unknown documents; those over the limit wait for later turns.
 * Preparing a document takes several times as long as a request with a known one, so clients that send a new document each
 * time would otherwise take most of the time from all others. While there are requests with known documents, every second
 * turn prepares one unknown document. While there are none, each turn prepares unknown documents for a millisecond.
 */
export function createPreparationTurns() {
  const waiting: (() => void)[] = [];
  /** When the first document of this turn was prepared; null if there was none. */
  let begunAt: number | null = null;
  /** Requests with known documents, in this turn and in the one before. */
  let known = 0;
  let knownBefore = 0;
  /** Whether this turn is left to known documents. */
  let isForKnown = false;

  return {
    /** Whether a further unknown document has to wait. */
    areFull: () => waiting.length > 0 || !hasTime(),
    /** Called when an unknown document is prepared. */
    begin() {
      if (begunAt !== null) return;
      begunAt = performance.now();
      setImmediate(startTurn);
    },
    /** Called when a document was known, or not needed because its reply was kept. */
    countKnown() {
      known += 1;
    },
    /** Calls the function in a later turn, in the order of the calls. */
    wait: <Result>(run: () => Result | Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(run());
          } catch (error) {
            reject(error);
          }
        });
      }),
  };

  function hasTime(): boolean {
    return begunAt === null || (known + knownBefore === 0 && performance.now() - begunAt <= maxMs);
  }

  function startTurn(): void {
    knownBefore = known;
    known = 0;
    isForKnown = knownBefore > 0 && !isForKnown;
    if (isForKnown) {
      setImmediate(startTurn);
      return;
    }
    begunAt = null;
    // A request whose document is known by now, or whose client has left, takes no time from the next one.
    while (hasTime()) {
      const startNext = waiting.shift();
      if (startNext === undefined) return;
      startNext();
    }
  }
}

/** The time of a turn without known documents. */
const maxMs = 1;

/** More than this, as much as the look-ups of seventeen IBANs at least: such a query waits for its turn. */
export const largeQueryCost = 200;

/**
 * Large queries take turns, four at a time: their look-ups use all calls to the service between them. With more in progress,
 * none would end sooner, and each holds memory for its look-ups. A query waits before it is executed: what waits gets into the
 * old generation of the heap, and would keep all that is created for the query later from being collected soon.
 */
export function createLargeQueryTurns() {
  const turns = createCallQueue({ maxConcurrency: 4, maxQueue: Number.MAX_SAFE_INTEGER });

  return {
    /** Executes a query in its turn, or without one: after 250 ms, or at once when its client leaves. */
    async takeTurn<Result>(signal: Signal, execute: () => Result | Promise<Result>): Promise<Result> {
      const wait = new Deadline(signal, maxTurnWaitMs);
      const hasTurn = await turns.enter(Symbol('large query'), wait);
      wait.end();
      try {
        return await execute();
      } finally {
        if (hasTurn) turns.leave();
      }
    },
  };
}

/** Then a query begins without a turn, so that those before it with a thousand look-ups do not delay it further. */
const maxTurnWaitMs = 250;

/** An operation of a higher cost could take longer than a time slice: it is completed in several. */
export const maxCostInOneSlice = 2_000;

type Resolve = GraphQLFieldResolver<unknown, RunContext>;

/**
 * Changes the resolvers of a schema, so that large operations are completed in time slices. Executors complete all objects without a pause, but wait for those that are
 * promises: when a slice is over, each further object is one. Fields without a resolver get none, so that compiled operations
 * read them directly, of which each item has less than a thousand; in GraphQL.js, they are resolved by `resolveInSlices`.
 */
export function addTimeSlices(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve && isCompositeType(getNamedType(field.type))) field.resolve = handOverInSlices(field.resolve);
    }
  }
}

/** The resolver of fields without one, in large operations. */
export const resolveInSlices: Resolve = (source, args, context, info) => {
  const value = defaultFieldResolver(source, args, context, info);
  const isComposite = typeof value === 'object' && isCompositeType(getNamedType(info.returnType));
  return isComposite && context.slices !== null ? inSlices(value, context.slices) : value;
};

function handOverInSlices(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    return context.slices === null ? result : inSlices(result, context.slices);
  };
}

/** @param result an object or a list of objects, an Error in place of one, or a promise */
function inSlices(result: unknown, slices: TimeSlices): unknown {
  if (result instanceof Promise) return result.then((value) => inSlices(value, slices));
  if (Array.isArray(result)) return eachInSlices(result, slices);
  return slices.isOver() && typeof result === 'object' && result !== null ? slices(() => result) : result;
}

/** Executors request an item when they have completed the one before. */
function* eachInSlices(items: readonly unknown[], slices: TimeSlices): Generator<unknown> {
  for (const item of items) yield slices.isOver() ? slices(() => item) : item;
}
