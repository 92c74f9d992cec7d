import { type SharedTask, startSharedTask } from '../../async/shared-task.ts';
import { GatewayError } from '../../errors.ts';
import type { RequestContext } from '../../request-context.ts';
import type { Store } from '../../stores/store.ts';
import type { EssayOrder, EssayResult, EssaysPort } from '../essays.ts';
import { createKeptEssays } from './archive.ts';
import { createKeptTexts } from './durable-writes.ts';
import { createToldFailures } from './failed-attempts.ts';
import { type NamedOrder, nameOrder } from './fingerprint.ts';
import { createOrderTurns } from './order-lock.ts';
import { cannotPromise, otherOrder } from './refusals.ts';

export interface IdempotentEssays extends EssaysPort {
  /** Once every essay that is being paid for is written and stored, as far as the store works. */
  settled(): Promise<void>;
}

export interface EssayKeepingEvents {
  /** The store fails: essays are answered and held in memory until it works. Once, and again when it worked in between. */
  essayWriteBuffered(reason: string): void;
  /** The store fails: an order with an idempotency key was refused, and not paid for. */
  essayRejectedWithoutStore(): void;
}

interface IdempotentEssaysOptions {
  /** Essays are confidential: it is to seal what it is given, keys and values. */
  store: Store;
  keepDays: number;
  events?: EssayKeepingEvents;
}

/**
 * Has an order with an idempotency key written once, whoever sends it again, when, and to which process; keeps every
 * essay before it is answered; and has one that is being paid for written to its end, though its caller left. A crash
 * between the service's answer and the store loses that essay: nothing can be done about that here.
 */
export function withIdempotency(
  essays: EssaysPort,
  { store, keepDays, events }: IdempotentEssaysOptions,
): IdempotentEssays {
  const keptMs = keepDays * 86_400_000;
  const texts = createKeptTexts({ store, keptMs, onFailed: (reason) => events?.essayWriteBuffered(reason) });
  const kept = createKeptEssays(texts);
  const failures = createToldFailures(store, keptMs);
  const awaitTurn = createOrderTurns({ store, kept, failures });
  const running = new Set<Running>();

  return {
    async generate(order, caller) {
      caller.signal.throwIfAborted();
      const named = nameOrder(order, caller.id);
      const same = named && [...running].find(({ name, work }) => name === named.name && !work.isGivenUp());
      if (same && same.digest !== named.digest) return otherOrder();
      return (same ?? start(order, named, caller)).work.join(caller.signal);
    },
    find: (id, caller) =>
      kept.find(id, caller.id).catch((cause: unknown) => {
        const message = 'Kept essays cannot be read at the moment.';
        throw new GatewayError('INTERNAL_SERVER_ERROR', message, { retryable: true, cause });
      }),
    async settled() {
      // What was not sent yet is the business of those who wait for it.
      const open = () => [...running].filter(({ work }) => work.isOnItsOwn());
      while (open().length > 0) await Promise.all(open().map(({ work }) => work.over));
      await texts.settled();
    },
  };

  function start(order: EssayOrder, named: NamedOrder | null, caller: RequestContext): Running {
    // Its own, so that it shows whether this order was sent, whatever else the request asks for.
    const ownCost = { ...caller.cost, upstreamCalls: 0 };
    const work = startSharedTask(
      (signal) => run({ ...caller, signal, cost: ownCost }),
      () => ownCost.upstreamCalls > 0,
    );
    const entry: Running = { name: named?.name ?? null, digest: named?.digest ?? null, work };
    running.add(entry);
    work.over.then(() => running.delete(entry));
    return entry;

    async function run(writer: RequestContext): Promise<EssayResult> {
      if (!named) return write(writer);
      const turn = await awaitTurn(named, writer.signal).catch(() => null);
      if (!turn) {
        writer.signal.throwIfAborted();
        events?.essayRejectedWithoutStore();
        return cannotPromise();
      }
      if ('result' in turn) return turn.result;
      try {
        writer.signal.throwIfAborted();
        return await write(writer);
      } finally {
        await turn.done();
      }
    }

    async function write(writer: RequestContext): Promise<EssayResult> {
      const result = await essays.generate(order, writer).finally(() => {
        caller.cost.upstreamCalls += ownCost.upstreamCalls;
      });
      if (result.kind === 'essay') await kept.keep(result, named, caller.id);
      else if (named) await failures.tell(named, result, { isRead: work.hasWaiters() });
      return result;
    }
  }
}

interface Running {
  name: string | null;
  digest: string | null;
  work: SharedTask<EssayResult>;
}
