import * as z from 'zod';
import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { type Essay, essaySchema } from '../port.ts';
import {
  hash,
  isEnded,
  isHidden,
  type OrderEvent,
  type OrderRecord,
  parseRecord,
  recordSchema,
  recordVersion,
  toEssayKey,
  toRecordKey,
  transition,
} from './order-record.ts';

interface OrderStoreOptions {
  store: Store;
  /** How long orders and essays are stored. */
  keepMs: number;
  events: Pick<Events, 'essayOrderUnreadable'>;
}

export type OrderStore = ReturnType<typeof createOrderStore>;

/** Stored orders, and their essays. Functions throw StoreError, with the failure `corrupt` for what is damaged or of a later version. */
export function createOrderStore({ store, keepMs, events }: OrderStoreOptions) {
  const expiry = { expiresInMs: keepMs };

  return {
    read,
    change,
    /** Lets the essay be found by its id: with its order, or by itself if it has none. */
    async writeEssay(essay: Essay, callerId: string, orderKey: string | null): Promise<void> {
      const entry = orderKey === null ? { version: 1, essay } : { version: 2, orderKey };
      await store.set(toEssayKey(essay.id, callerId), JSON.stringify(entry), expiry);
    },
    async readEssay(essayId: string, callerId: string): Promise<Essay | null> {
      const entry = parseRecord(essayEntry, await store.get(toEssayKey(essayId, callerId)));
      if (entry === null) return null;
      if ('essay' in entry) return entry.essay;
      const record = parseRecord(recordSchema, await store.get(entry.orderKey));
      return record?.state.kind === 'finished' && record.state.essay.id === essayId ? record.state.essay : null;
    },
    /** Deletes an order that was seen to have ended, with its essay. False if it has changed since. */
    async erase(seen: OrderRecord): Promise<boolean> {
      const { id, caller, listed, state } = seen;
      const key = toRecordKey(id, caller.id);
      const { text, record } = await readText(key);
      if (record?.run !== seen.run || record.state.kind !== state.kind) return false;
      if (!(await store.replace(key, text, null, expiry))) return false;
      const essayId = state.kind === 'finished' ? state.essay.id : null;
      await Promise.all([
        essayId !== null && store.delete(toEssayKey(essayId, caller.id)),
        listed !== null && store.delete(toEntryKey(caller.id, listed)),
        store.delete(toTextKey(seen)),
      ]);
      return true;
    },
    /** Adds an order to the list of its caller. @returns the number of its entry */
    async list(id: string, callerId: string): Promise<number> {
      const { sum: number } = await store.add(toListKey(callerId), 1, counterExpiry);
      await store.set(toEntryKey(callerId, number), id, expiry);
      return number;
    },
    /** Number of the last entry of a caller's list; 0: there was none. */
    lastNumber: async (callerId: string) => (await store.add(toListKey(callerId), 0, counterExpiry)).sum,
    /** The id in an entry; null if it is missing or damaged. */
    readEntry: (callerId: string, number: number) => store.get(toEntryKey(callerId, number)).catch(skipUnreadable),
    /** For an entry or a record that is damaged or of a later version: it must not hide others. @throws other errors */
    skipUnreadable,
    /** The text so far of an order that another process has sent. */
    async readTextSoFar(record: OrderRecord): Promise<string> {
      return parseRecord(writtenText, await store.get(toTextKey(record)))?.textSoFar ?? '';
    },
    async writeTextSoFar(record: OrderRecord, textSoFar: string): Promise<void> {
      await store.set(toTextKey(record), JSON.stringify({ textSoFar }), { expiresInMs: textExpiresInMs });
    },
  };

  async function read(id: string, callerId: string): Promise<OrderRecord | null> {
    return (await readText(toRecordKey(id, callerId))).record;
  }

  async function readText(key: string) {
    const text = await store.get(key);
    return { text, record: parseRecord(recordSchema, text) };
  }

  /**
   * Applies an event to an order, across all processes. If it fails, it may have taken effect.
   * @returns the order afterwards
   */
  async function change(id: string, callerId: string, event: OrderEvent): Promise<OrderRecord | null> {
    const key = toRecordKey(id, callerId);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { text, record } = await readText(key);
      const next = transition(record, event);
      if (next === record) return next;
      const isFleeting = next !== null && isEnded(next) && isHidden(next);
      const nextText = next && JSON.stringify({ version: recordVersion, ...next });
      if (await store.replace(key, text, nextText, isFleeting ? fleeting : expiry)) return next;
    }
    throw new StoreError('other processes keep changing the order');
  }

  function skipUnreadable(error: unknown): null {
    if (!(error instanceof StoreError) || error.failure !== 'corrupt') throw error;
    events.essayOrderUnreadable();
    return null;
  }
}

/** The list of a caller, which only grows at its end. Its entries are numbered from 1; a removed or expired one is missing. */
function toListKey(callerId: string): string {
  return `essay-jobs:${hash([callerId])}`;
}

function toEntryKey(callerId: string, number: number): string {
  return `${toListKey(callerId)}:${number}`;
}

/** Under the id of a run, so that it does not show the text of another one. */
function toTextKey({ run, caller }: OrderRecord): string {
  return `essay-text:${hash([caller.id, run])}`;
}

/** Longer than the longest time limit of an essay. */
const textExpiresInMs = 3_600_000;
/** An order that was not sent for its client is kept only for those that wait for it in other processes. */
const fleeting = { expiresInMs: 60_000 };
/** A century: numbers are never used again. */
const counterExpiry = { expiresInMs: 100 * 365 * 86_400_000 };
/** An order is changed by its process, and now and then by its client or by a process that takes over. */
const maxAttempts = 20;

const writtenText = z.object({ textSoFar: z.string() });
const essayEntry = z.union([
  z.object({ version: z.literal(1), essay: essaySchema }),
  z.object({ version: z.literal(2), orderKey: z.string() }),
]);
