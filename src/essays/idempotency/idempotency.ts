import { type SharedTask, startSharedTask } from '../../async/shared-task.ts';
import type { RequestContext } from '../../request-context.ts';
import type { Store } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { EssayArchive, EssayGenerator, EssayOrder, EssayResult, EssayServiceFailed } from '../essays.ts';
import { createArchive } from './archive.ts';
import { createDurableWrites } from './durable-writes.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { differentOrder, type KeyedOrder, toKeyedOrder } from './fingerprint.ts';
import { createOrderLock } from './order-lock.ts';

interface IdempotentEssays extends EssayGenerator {
  archive: EssayArchive;
  /** Waits for the orders that were sent, then retries the buffered writes once. */
  flush(): Promise<void>;
  /** Flushes, and reports the essays that could not be stored as lost. */
  close(): Promise<void>;
}

interface IdempotencyOptions {
  /** Encrypted: essays are confidential. */
  store: Store;
  keepDays: number;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost' | 'essayRejectedWithoutStore'>;
}

/**
 * Pays once for an order with an idempotency key, over all processes that share the store. Every essay is stored before
 * it is returned, and an order that was sent is completed even if its caller leaves. A crash between the service's
 * response and the store loses the essay.
 */
export function withIdempotency(
  generator: EssayGenerator,
  { store, keepDays, events }: IdempotencyOptions,
): IdempotentEssays {
  const expiresInMs = keepDays * 86_400_000;
  const writes = createDurableWrites({ store, expiresInMs, events });
  const archive = createArchive(writes);
  const failedAttempts = createFailedAttempts(store, expiresInMs);
  const acquire = createOrderLock({ store, archive, failedAttempts });
  const running = new Set<RunningOrder>();

  return {
    async generate(order, context, onSent) {
      context.signal.throwIfAborted();
      const keyed = toKeyedOrder(order, context.callerId);
      const same = keyed && findRunning(keyed);
      if (same && same.keyed?.fingerprint !== keyed.fingerprint) return differentOrder;
      return (same ?? start(order, keyed, context, onSent)).task.join(context.signal);
    },
    archive,
    flush,
    async close() {
      await flush();
      writes.discard();
    },
  };

  function findRunning({ storeKey }: KeyedOrder): RunningOrder | undefined {
    return [...running].find(({ keyed, task }) => keyed?.storeKey === storeKey && !task.isAborted());
  }

  async function flush(): Promise<void> {
    const detached = () => [...running].filter(({ task }) => task.isDetached());
    while (detached().length > 0) await Promise.all(detached().map(({ task }) => task.settled));
    await writes.flush();
  }

  function start(order: EssayOrder, keyed: KeyedOrder | null, context: RequestContext, onSent?: () => void) {
    const task = startSharedTask(run);
    const entry = { keyed, task };
    running.add(entry);
    task.settled.then(() => running.delete(entry));
    return entry;

    async function run(signal: AbortSignal, commit: () => void): Promise<EssayResult> {
      if (!keyed) return write(signal, commit);
      const acquired = await acquire(keyed, signal).catch(() => {
        signal.throwIfAborted();
        events.essayRejectedWithoutStore();
        return { result: storeFailed };
      });
      if ('result' in acquired) return acquired.result;
      try {
        signal.throwIfAborted();
        return await write(signal, commit);
      } finally {
        await acquired.release();
      }
    }

    async function write(signal: AbortSignal, commit: () => void): Promise<EssayResult> {
      const result = await generator.generate(order, { ...context, signal }, () => {
        commit();
        onSent?.();
      });
      if (result.kind === 'essay') await archive.store(result, keyed, context.callerId);
      else if (keyed) await failedAttempts.record(keyed, result, { isRead: task.hasWaiters() });
      return result;
    }
  }
}

interface RunningOrder {
  keyed: KeyedOrder | null;
  task: SharedTask<EssayResult>;
}

/** Without the store, the gateway does not know whether an order with a key was paid for already. */
const storeFailed: EssayServiceFailed = {
  kind: 'service-failed',
  message:
    'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later, or omit the idempotencyKey.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};
