import { StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Essay } from '../port.ts';
import { isSameOrder, type OrderEvent, type OrderRecord, recordKeyOf, toRecordKey } from './order-record.ts';
import type { OrderStore } from './order-store.ts';

interface PendingEndsOptions {
  records: Pick<OrderStore, 'change' | 'writeEssay'>;
  /** Called when an end is stored, with the order as it is stored then. */
  onStored: (end: PendingEnd, stored: OrderRecord | null) => void;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost'>;
}

/** How an order of this process has ended, until that is stored. */
export interface PendingEnd {
  /** As this process knows it. */
  own: OrderRecord;
  /** As it has ended. If another run has stored an essay before, it is with that one. Null: it has not ended, and is given up here. */
  record: OrderRecord | null;
  event: Extract<OrderEvent, { kind: 'answered' | 'unsent' | 'refused' | 'taken-over' }>;
  essay: Essay | null;
  /** Without an idempotency key, only its essay is stored. */
  isKeyed: boolean;
}

/** Stores how orders end. What the store does not accept is kept in memory, and tried again. */
export function createPendingEnds({ records, onStored, events }: PendingEndsOptions) {
  /** By the key of the order, in the order in which they have ended. */
  const ends = new Map<string, PendingEnd>();
  /** One try at a time. */
  const storing = new Map<PendingEnd, Promise<unknown>>();

  return {
    /** Resolves when it was tried to store it. */
    async add(end: PendingEnd): Promise<void> {
      ends.set(recordKeyOf(end.own), end);
      const failure = await findFailure(end);
      if (failure !== null) buffer(end, failure);
    },
    find: (id: string, callerId: string) => ends.get(toRecordKey(id, callerId)),
    findEssay(essayId: string, callerId: string): Essay | null {
      const found = list().find(({ essay, own }) => essay?.id === essayId && own.caller.id === callerId);
      return found?.essay ?? null;
    },
    list,
    /** Tries to store it now. @returns whether it is stored */
    tryToStore: async (end: PendingEnd) => (await findFailure(end)) === null,
    storeAll,
    /** Reports each essay as lost. */
    discard(): void {
      for (const { essay } of ends.values()) if (essay !== null) events.essayLost(lostAtShutdown);
      ends.clear();
    },
  };

  async function storeAll(): Promise<void> {
    await Promise.all(list().map(findFailure));
  }

  function list(): PendingEnd[] {
    return [...ends.values()];
  }

  /** Tries to store it now. @returns why it failed; null: it is stored */
  function findFailure(end: PendingEnd): Promise<unknown> {
    const attempt = storing.get(end) ?? store(end);
    storing.set(end, attempt);
    return attempt;
  }

  async function store(end: PendingEnd): Promise<unknown> {
    try {
      await write(end);
      return null;
    } catch (error) {
      return error;
    } finally {
      storing.delete(end);
    }
  }

  async function write(end: PendingEnd): Promise<void> {
    const { own, event, essay, isKeyed } = end;
    const { id, caller, run } = own;
    if (ends.get(recordKeyOf(end.own)) !== end) return;
    if (essay !== null) await records.writeEssay(essay, caller.id, isKeyed ? recordKeyOf(end.own) : null);
    const stored = isKeyed ? await records.change(id, caller.id, event) : null;
    const isOther = stored !== null && stored.run !== run && !isSameOrder(stored, own);
    if (essay !== null && isOther) await records.writeEssay(essay, caller.id, null);
    else if (stored?.state.kind === 'finished') {
      end.record = stored;
      if (essay !== null && stored.state.essay.id !== essay.id) events.essayLost(duplicateEssay);
    }
    ends.delete(recordKeyOf(end.own));
    onStored(end, stored);
  }

  /** Ends without an essay never replace one. */
  function buffer(end: PendingEnd, error: unknown): void {
    const reason = error instanceof StoreError ? error.reason : 'unusable';
    const hasEssay = end.essay !== null;
    const [oldest, ...others] = list().filter((other) => other !== end && (other.essay !== null) === hasEssay);
    if (hasEssay && !oldest) events.essayWriteBuffered(reason);
    if (others.length + 1 < maxBuffered || !oldest) return;
    if (hasEssay) events.essayLost(reason);
    ends.delete(recordKeyOf(oldest.own));
  }
}

/** Number of essays, of about 15 kB each, and of other ends. */
const maxBuffered = 2_000;

const duplicateEssay = 'another process stored an essay of the same order first';
const lostAtShutdown = 'the store failed until shutdown';
