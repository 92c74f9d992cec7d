import { SharedTask } from '../../async/shared-task.ts';
import type { Signal } from '../../async/signal.ts';
import type { RequestContext } from '../../request-context.ts';
import type { Store } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { essayOutcome } from '../essay-outcome.ts';
import type { EssayArchive, EssayGenerator, EssayOrder, EssayResult, SendingEssayGenerator } from '../essays.ts';
import { createArchive } from './archive.ts';
import { createDurableWrites } from './durable-writes.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { differentOrder, type OrderIdentity, toOrderIdentity } from './fingerprint.ts';
import { createHeldLocks, type HeldLock } from './held-lock.ts';
import { unsafeOrder, withHeldLock } from './locked-generator.ts';
import { createOrderLock } from './order-lock.ts';

interface IdempotentEssays extends EssayGenerator {
  archive: EssayArchive;
  /** Waits for the orders that were sent, then retries the buffered writes once. */
  flush(): Promise<void>;
  /** Flushes, then reports as lost each essay that could not be stored. */
  close(): Promise<void>;
}

interface IdempotencyOptions {
  /** Must encrypt its values: essays are confidential. */
  store: Store;
  /** Adds a listener that is called whenever the store works again after it failed. */
  onRecovered: (listener: () => void) => void;
  keepDays: number;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost' | 'essayRejectedWithoutStore' | 'essayOrdered'>;
}

/**
 * Makes sure that an essay with an idempotency key is paid for only once, across all processes that share the store. An
 * essay is stored, or buffered while the store fails, before it is returned; an order that was sent is completed even
 * if its caller aborts. A failed order is sent again when it is repeated, even if the failure was charged. If the
 * process crashes between sending and storing, the essay is lost, and the repeated order is charged again.
 */
export function withIdempotency(
  generator: SendingEssayGenerator,
  { store, onRecovered, keepDays, events }: IdempotencyOptions,
): IdempotentEssays {
  const expiresInMs = keepDays * 86_400_000;
  const writes = createDurableWrites({ store, expiresInMs, events });
  const archive = createArchive(writes, events);
  const failedAttempts = createFailedAttempts(store, expiresInMs);
  const locks = createHeldLocks(store, onRecovered);
  const acquire = createOrderLock({ locks, archive, failedAttempts });
  const running = new Set<RunningOrder>();
  onRecovered(() => void writes.flush());

  return {
    async generate(order, context) {
      context.signal.throwIfAborted();
      const identity = toOrderIdentity(order, context.callerId);
      const runningOrder = identity && findRunning(identity);
      if (runningOrder && runningOrder.identity?.fingerprint !== identity.fingerprint) {
        return report(differentOrder, false);
      }
      const { task } = runningOrder ?? start(order, identity, context);
      context.activity.begin();
      const result = await task.wait(context.signal).finally(() => context.activity.end());
      return runningOrder ? report(result, false) : result;
    },
    archive,
    flush,
    async close() {
      await flush();
      writes.discard();
    },
  };

  function report(result: EssayResult, isNew: boolean): EssayResult {
    events.essayOrdered(essayOutcome(result, isNew));
    return result;
  }

  function findRunning({ storeKey }: OrderIdentity): RunningOrder | undefined {
    return [...running].find(({ identity, task }) => identity?.storeKey === storeKey && !task.signal.aborted);
  }

  async function flush(): Promise<void> {
    const detached = () => [...running].filter(({ task }) => task.outlivesCallers());
    while (detached().length > 0) await Promise.all(detached().map(({ task }) => task.settled));
    await writes.flush();
  }

  function start(order: EssayOrder, identity: OrderIdentity | null, context: RequestContext): RunningOrder {
    const task = new SharedTask<EssayResult>((task) => run(task));
    const runningOrder = { identity, task };
    running.add(runningOrder);
    void task.settled.then(() => running.delete(runningOrder));
    return runningOrder;

    async function run(task: SharedTask<EssayResult>): Promise<EssayResult> {
      const { signal } = task;
      const onSent = () => task.keepAlive();
      if (!identity) return report(await orderAndSave(generator, signal, onSent), true);
      const acquired = await acquire(identity, signal).catch(() => {
        signal.throwIfAborted();
        return { result: unsafeOrder };
      });
      const result = 'result' in acquired ? acquired.result : await orderWithLock(acquired.lock, signal, onSent);
      if (result === unsafeOrder) events.essayRejectedWithoutStore();
      return report(result, 'lock' in acquired);
    }

    async function orderWithLock(lock: HeldLock, signal: Signal, onSent: () => void): Promise<EssayResult> {
      try {
        signal.throwIfAborted();
        return await orderAndSave(withHeldLock(generator, lock), signal, onSent);
      } finally {
        await lock.release();
      }
    }

    async function orderAndSave(generator: SendingEssayGenerator, signal: Signal, onSent: () => void) {
      const result = await generator.generate(order, { ...context, signal }, { maySend: async () => true, onSent });
      if (result.kind === 'essay') return archive.save(result, identity, context.callerId);
      if (identity && result !== unsafeOrder)
        await failedAttempts.record(identity, result, { isDelivered: task.hasCallers() });
      return result;
    }
  }
}

interface RunningOrder {
  identity: OrderIdentity | null;
  task: SharedTask<EssayResult>;
}
