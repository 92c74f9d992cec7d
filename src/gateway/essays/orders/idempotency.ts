import { SharedTask } from '../../../base/async/shared-task.ts';
import type { RequestContext } from '../../request-context.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import type { EssayOutcome, Events } from '../../telemetry/events.ts';
import type {
  EssayGenerator,
  EssayOrder,
  EssayResult,
  EssayServiceFailed,
  OrderProgress,
  SendingEssayGenerator,
} from '../essays.ts';
import { createArchive, differentOrder, type OrderArchive, type OrderKey, toOrderKey } from './archive.ts';
import { createDurableWrites } from './durable-writes.ts';
import { createOrderLock, LockLostError } from './order-lock.ts';

export interface IdempotentEssays extends EssayGenerator {
  archive: OrderArchive;
  /** What is known of an order that was sent: its last result, or that it is being written. Null: nothing. @throws StoreError */
  findOutcome(key: OrderKey): Promise<EssayResult | 'writing' | null>;
  /** Deletes what is stored of an order. @returns false if a process is sending it @throws StoreError */
  deleteOrder(key: OrderKey, essayId: string | null, callerId: string): Promise<boolean>;
  /** Ends an order of this process, also one that was sent; its waiting callers get the reason. */
  abort(order: EssayOrder, callerId: string, reason: Error): void;
  /** Waits for the orders that were sent, then retries the buffered writes once. */
  flush(): Promise<void>;
  /** Flushes, then reports as lost each essay that could not be stored. */
  close(): Promise<void>;
}

/** The store must encrypt its values: essays are confidential. */
interface IdempotencyOptions extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'> {
  /** How long essays are stored. */
  keepMs: number;
  /** Called when an order with a key, whose client waits for it, is about to be sent. */
  listOrder: (order: EssayOrder, callerId: string) => Promise<void>;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost' | 'essayRejectedWithoutStore' | 'essayOrdered'>;
}

/**
 * Makes sure that an essay with an idempotency key is paid for only once, across all processes that share the store. An
 * essay is stored, or buffered while the store fails, before it is returned; an order that was sent is completed even
 * if its caller aborts. A repeated order that has failed is sent again if it was not sent, or if the service has refused it; any
 * other failure, and that of a process that crashed between sending and storing, is returned until the order has `orderAgain`.
 */
export function withIdempotency(
  generator: SendingEssayGenerator,
  { store, isShared, onRecovered, keepMs: expiresInMs, listOrder, events }: IdempotencyOptions,
): IdempotentEssays {
  const writes = createDurableWrites({ store, expiresInMs, events });
  const archive = createArchive({ store, writes, expiresInMs, events });
  const { acquire, findOutcome, whileFree } = createOrderLock({ store, isShared, onRecovered, archive });
  const running = new Set<RunningOrder>();
  onRecovered(() => void writes.flush());

  return {
    async generate(order, context, progress) {
      context.signal.throwIfAborted();
      const key = toOrderKey(order, context.callerId);
      const known = key && findRunning(key);
      if (known && known.key?.fingerprint !== key.fingerprint) return report(differentOrder);
      const { task, listeners } = known ?? start(order, key, context, progress);
      if (known && progress) {
        listeners.add(progress);
        if (task.outlivesCallers()) progress.onSent();
      }
      context.activity.begin();
      try {
        const result = await task.wait(context.signal);
        // The order that started the task has reported itself.
        return known ? report(result) : result;
      } finally {
        if (progress) listeners.delete(progress);
        context.activity.end();
      }
    },
    abort(order, callerId, reason) {
      const key = toOrderKey(order, callerId);
      if (key) findRunning(key)?.task.signal.abort(reason);
    },
    archive,
    findOutcome,
    deleteOrder: async (key, essayId, callerId) =>
      (await whileFree(key, () => archive.deleteOrder(key, essayId, callerId))) !== 'held',
    flush,
    async close() {
      await flush();
      writes.discard();
    },
  };

  /** @param isNew whether this order generated the essay, and not an earlier one with the same key */
  function report(result: EssayResult, { isNew = false } = {}): EssayResult {
    events.essayOrdered(result.kind === 'essay' && !isNew ? 'from_key' : outcomes[result.kind]);
    return result;
  }

  function findRunning({ storeKey }: OrderKey): RunningOrder | undefined {
    return [...running].find(({ key, task }) => key?.storeKey === storeKey && !task.signal.aborted);
  }

  async function flush(): Promise<void> {
    const detached = () => [...running].filter(({ task }) => task.outlivesCallers());
    while (detached().length > 0) await Promise.all(detached().map(({ task }) => task.settled()));
    await writes.flush();
  }

  function start(
    order: EssayOrder,
    key: OrderKey | null,
    context: RequestContext,
    progress: OrderProgress | undefined,
  ): RunningOrder {
    const listeners = new Set(progress ? [progress] : []);
    const task = new SharedTask<EssayResult>(async (task) => {
      try {
        return await runOrder(order, key, context, task, listeners);
      } finally {
        running.delete(runningOrder);
      }
    });
    const runningOrder = { key, task, listeners };
    running.add(runningOrder);
    return runningOrder;
  }

  function runOrder(
    order: EssayOrder,
    key: OrderKey | null,
    context: RequestContext,
    task: SharedTask<EssayResult>,
    listeners: ReadonlySet<OrderProgress>,
  ): Promise<EssayResult> {
    const { signal } = task;
    const taskContext = { ...context, signal };
    return key ? runOnce(key) : run();

    async function run(): Promise<EssayResult> {
      const hooks = { maySend: async () => true, beforeAttempt: onSent, onText };
      const result = await generator.generate(order, taskContext, hooks);
      const saved = result.kind === 'essay' ? await archive.save(result, null, context.callerId) : result;
      return report(saved, { isNew: true });
    }

    async function runOnce(key: OrderKey): Promise<EssayResult> {
      const first = await runInTurn(key);
      // Nothing was sent, and another process may have sent the order meanwhile.
      const result = first === 'lock-lost' ? await runInTurn(key) : first;
      if (typeof result !== 'string') return result;
      events.essayRejectedWithoutStore();
      return report(unsafeOrder);
    }

    /**
     * Waits for other processes that send the order, and sends each attempt only if it is recorded, and while the lock is held.
     * @returns why it was not sent: `unsafe` if the store failed; `lock-lost` if nothing was recorded either, so that the lock can
     * be acquired again
     */
    async function runInTurn(key: OrderKey): Promise<EssayResult | 'lock-lost' | 'unsafe'> {
      const acquired = await acquire(key, order, signal).catch(() => {
        signal.throwIfAborted();
        return null;
      });
      if (acquired === null) return 'unsafe';
      if ('result' in acquired) return report(await readAgain(acquired.result));
      const { lock } = acquired;
      let isRecorded = false;
      let isSafe = true;
      try {
        signal.throwIfAborted();
        const result = await generator.generate(order, taskContext, {
          async maySend() {
            // Before it is recorded, so that no order is missing that may be paid for. A job is listed already.
            const listing = listeners.size === 0 ? listOrder(order, context.callerId) : null;
            isSafe = await lock.confirm();
            await listing?.catch(() => {});
            for (const { beforeSend } of listeners) beforeSend();
            signal.throwIfAborted();
            if (!isSafe) return false;
            isRecorded = true;
            onSent();
            isSafe = await archive.saveSent(key);
            return isSafe;
          },
          beforeAttempt: lock.beforeAttempt,
          onText,
        });
        if (!isSafe) return isRecorded ? 'unsafe' : 'lock-lost';
        if (result.kind === 'essay') return report(await archive.save(result, key, context.callerId), { isNew: true });
        // The failure of an order that was not sent must not replace that of an earlier attempt, which may have been paid for.
        if (isRecorded || !order.orderAgain) await archive.saveFailure(key, result);
        return report(result);
      } catch (error) {
        if (error instanceof LockLostError) return 'unsafe';
        throw error;
      } finally {
        await lock.release();
      }
    }

    function onSent(): void {
      // Never released: an order that was sent, or is recorded as sent, is always completed.
      task.keepAlive();
      for (const { onSent } of listeners) onSent();
    }

    function onText(textSoFar: string): void {
      for (const { onText } of listeners) onText(textSoFar);
    }

    /** A stored body that could not be read may be an essay by the fields that the operator has declared since. */
    async function readAgain(result: EssayResult): Promise<EssayResult> {
      if (result.kind !== 'service-failed' || result.outcome !== 'unreadable' || result.rawText === null) return result;
      const essay = generator.readAgain(order, result.rawText);
      if (essay === null) return result;
      // A job that has ended with the failure is replaced by the order that has the essay.
      if (listeners.size === 0) await listOrder(order, context.callerId).catch(() => {});
      return archive.save(essay, key, context.callerId);
    }
  }
}

interface RunningOrder {
  key: OrderKey | null;
  task: SharedTask<EssayResult>;
  /** The jobs that it is run for, until they leave. */
  listeners: Set<OrderProgress>;
}

/** Without the store, it is unknown whether an order was paid for already. A retry may succeed, as after `shed`. */
export const unsafeOrder: EssayServiceFailed = {
  kind: 'service-failed',
  message:
    'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};

const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
