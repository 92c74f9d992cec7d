import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Essay } from '../essays.ts';
import { isSameOrder, type OrderEvent, type OrderRecord, toOrderKey } from './order-record.ts';
import type { OrderStore } from './order-store.ts';

interface OrderEndsOptions {
  orders: Pick<OrderStore, 'change' | 'writeEssay'>;
  /** Called when an end is stored, with the order as it is stored then. */
  onStored: (end: OrderEnd, stored: OrderRecord | null) => void;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost'>;
}

/** How an order of this process has ended, until that is stored. */
export interface OrderEnd {
  /** As it is then. If another run has stored an essay before, it is with that one. */
  record: OrderRecord;
  event: Extract<OrderEvent, { kind: 'answered' | 'unsent' | 'refused' | 'released' }>;
  essay: Essay | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
}

export type OrderEnds = ReturnType<typeof createOrderEnds>;

/** Stores how orders end. What the store does not accept is kept in memory, and tried again. */
export function createOrderEnds({ orders, onStored, events }: OrderEndsOptions) {
  /** By the key of the order, in the order in which they have ended. */
  const ends = new Map<string, OrderEnd>();
  /** One try at a time. */
  const storing = new Map<OrderEnd, Promise<boolean>>();

  return {
    /** Resolves when it was tried to store it. */
    async add(end: OrderEnd): Promise<void> {
      ends.set(keyOf(end), end);
      await store(end, (error) => buffer(end, error));
    },
    find: (id: string, callerId: string) => ends.get(toOrderKey(id, callerId)),
    findEssay(essayId: string, callerId: string): Essay | null {
      const found = list().find(({ essay, record }) => essay?.id === essayId && record.caller.id === callerId);
      return found?.essay ?? null;
    },
    list,
    /** @returns whether it is stored */
    store,
    async storeAll(): Promise<void> {
      await Promise.all(list().map((end) => store(end)));
    },
    /** Reports each essay as lost. */
    discard(): void {
      for (const { essay } of ends.values()) if (essay !== null) events.essayLost(lostAtShutdown);
      ends.clear();
    },
  };

  function list(): OrderEnd[] {
    return [...ends.values()];
  }

  function store(end: OrderEnd, onFailure: (error: unknown) => void = () => {}): Promise<boolean> {
    const before = storing.get(end);
    if (before) return before;
    const result = write(end).then(
      () => true,
      (error) => {
        onFailure(error);
        return false;
      },
    );
    storing.set(end, result);
    return result.finally(() => storing.delete(end));
  }

  async function write(end: OrderEnd): Promise<void> {
    const { event, essay, isKeyed } = end;
    const { id, caller, run } = event.own;
    if (ends.get(keyOf(end)) !== end) return;
    if (essay !== null) await orders.writeEssay(essay, caller.id, isKeyed ? keyOf(end) : null);
    const stored = isKeyed ? await orders.change(id, caller.id, event) : null;
    const isOther = stored !== null && stored.run !== run && !isSameOrder(stored, event.own);
    if (essay !== null && isOther) await orders.writeEssay(essay, caller.id, null);
    else if (stored?.state.kind === 'finished') {
      end.record = stored;
      if (essay !== null && stored.state.essay.id !== essay.id) events.essayLost(duplicateEssay);
    }
    ends.delete(keyOf(end));
    onStored(end, stored);
  }

  /** Ends without an essay never replace one. */
  function buffer(end: OrderEnd, error: unknown): void {
    const reason = error instanceof StoreError ? error.reason : 'unusable';
    const hasEssay = end.essay !== null;
    const [oldest, ...others] = list().filter((other) => other !== end && (other.essay !== null) === hasEssay);
    if (hasEssay && !oldest) events.essayWriteBuffered(reason);
    if (others.length + 1 < maxBuffered || !oldest) return;
    if (hasEssay) events.essayLost(reason);
    ends.delete(keyOf(oldest));
  }
}

function keyOf({ event }: OrderEnd): string {
  return toOrderKey(event.own.id, event.own.caller.id);
}

/** Number of essays, of about 15 kB each, and of other ends. */
const maxBuffered = 2_000;

const duplicateEssay = 'another process stored an essay of the same order first';
const lostAtShutdown = 'the store failed until shutdown';
