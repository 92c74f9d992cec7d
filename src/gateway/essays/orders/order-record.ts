import { createHash } from 'node:crypto';
import * as z from 'zod';
import { StoreError } from '../../stores/store.ts';
import {
  callerSchema,
  type EssayFailure,
  type EssayInput,
  type EssayResult,
  essaySchema,
  failureSchema,
  inputSchema,
  type OrderInput,
} from '../port.ts';
import { unknownOutcome } from './order-failures.ts';

/** The version of the form of records. */
export const recordVersion = 2;

export type KeyedOrder = z.infer<typeof orderSchema>;
const orderSchema = inputSchema.extend({ idempotencyKey: z.string(), orderAgain: z.boolean() });

const queued = z.object({ kind: z.literal('queued') });
/** It may have been sent, and may be paid for. Written before the first byte is sent. */
const sent = z.object({ kind: z.literal('sent') });
const finished = z.object({ kind: z.literal('finished'), essay: essaySchema });
/** Null: its process crashed, or could not store what it received. */
const failed = z.object({ kind: z.literal('failed'), failure: failureSchema.nullable() });
const cancelled = z.object({ kind: z.literal('cancelled'), mayHaveBeenPaid: z.boolean() });

export type EndedState = z.infer<typeof endedState>;
const endedState = z.discriminatedUnion('kind', [finished, failed, cancelled]);

/** An order with an idempotency key, as it is stored. Each of its changes is a `transition`, and a compare-and-set in the store. */
export type OrderRecord = Omit<z.infer<typeof recordSchema>, 'version'>;
export const recordSchema = z.object({
  version: z.literal(recordVersion),
  /** Derived from the caller and the idempotency key. */
  id: z.string(),
  createdAt: z.coerce.date(),
  order: orderSchema,
  caller: callerSchema,
  /** Whether its client waits for it (`generateEssay`). It ends with its client or its process if it was not sent. */
  isAwaited: z.boolean(),
  /** Number of its entry in the caller's list, where orders that were started again have earlier ones, too. Null: it is not listed. */
  listed: z.number().nullable(),
  /** The process that runs it; null: one that stops has left it to others. */
  process: z.string().nullable(),
  /** Random. One run is one process that may send the order; the process that takes it over begins another run. */
  run: z.string(),
  /** How often this run was recorded as sent. */
  attempts: z.number(),
  isCancelRequested: z.boolean(),
  /** Whether another client has started it while it was queued. */
  isRepeated: z.boolean(),
  /** How an earlier run ended, and what it was, until this one is sent. */
  earlier: z.object({ order: orderSchema, isAwaited: z.boolean(), attempts: z.number(), state: endedState }).nullable(),
  state: z.discriminatedUnion('kind', [queued, sent, finished, failed, cancelled]),
});

export type OrderEvent =
  /** A client orders. `next` is queued. */
  | { kind: 'ordered'; next: OrderRecord }
  /** Another client starts it, and finds it queued. */
  | { kind: 'repeated'; seen: OrderRecord }
  /** Its process is about to send it. A record that is missing was deleted, unless the store may have lost its data since. */
  | { kind: 'sending'; own: OrderRecord; mayBeLost: boolean }
  /** What was sent has ended. */
  | { kind: 'answered'; own: OrderRecord; state: EndedState }
  /** It was not sent, and will not be by this run. Null: its client has left. */
  | { kind: 'unsent'; own: OrderRecord; failure: EssayFailure | null }
  /** Its client was refused, because it may not be stored. `before`: the order that it has replaced. */
  | { kind: 'refused'; own: OrderRecord; before: OrderRecord | null }
  /** @param cancelsSent whether one that was sent ends as well */
  | { kind: 'cancelled'; cancelsSent: boolean }
  /** Asks the process that has sent it. */
  | { kind: 'cancel-requested' }
  /** Its process stops, and has not sent it. */
  | { kind: 'released'; own: OrderRecord }
  /** Its process has no lease any more, or has released it: another one decides, and begins a run if it was not sent. */
  | { kind: 'taken-over'; seen: OrderRecord; by: { process: string; run: string } }
  /** The store has lost its data; the process that runs it still has the record. */
  | { kind: 'lost'; own: OrderRecord };

/** The only way from one state of an order to the next. @returns the same object if the event changes nothing */
export function transition(record: OrderRecord | null, event: OrderEvent): OrderRecord | null {
  switch (event.kind) {
    case 'ordered':
      return afterOrder(record, event.next);
    case 'repeated':
      return record?.state.kind === 'queued' && record.run === event.seen.run
        ? { ...record, isRepeated: true }
        : record;
    case 'sending':
      return afterSending(record, event);
    case 'answered':
      return afterAnswer(record, event.own, event.state);
    case 'unsent':
      return record && isRunBy(record, event.own) ? afterUnsent(record, event.own, event.failure) : record;
    case 'refused':
      return record?.state.kind === 'queued' && isRunBy(record, event.own) ? afterRefusal(record, event) : record;
    case 'cancelled':
      return record && afterCancellation(record, event.cancelsSent);
    case 'cancel-requested':
      return record?.state.kind === 'sent' && !record.isCancelRequested
        ? { ...record, isCancelRequested: true }
        : record;
    case 'released':
      return record?.state.kind === 'queued' && isRunBy(record, event.own) ? { ...record, process: null } : record;
    case 'taken-over':
      return record?.run === event.seen.run ? afterTakeOver(record, event.by) : record;
    case 'lost':
      return afterLoss(record, event.own);
  }
}

function afterOrder(record: OrderRecord | null, next: OrderRecord): OrderRecord | null {
  if (record === null) return next;
  if (!isEnded(record)) {
    // The client that waits for it may leave now.
    const isStarted =
      record.state.kind === 'queued' && record.isAwaited && !next.isAwaited && isSameOrder(record, next);
    return isStarted ? { ...record, isAwaited: false, listed: next.listed, caller: next.caller } : record;
  }
  if (!mayOrder(record, next)) return record;
  const { order, isAwaited, attempts, state, listed } = record;
  const isKept = !isHidden(record) && (needsConsent(state) || next.isAwaited);
  return isKept ? { ...next, earlier: { order, isAwaited, attempts, state }, listed: next.listed ?? listed } : next;
}

/** Whether an order that has ended is sent once more. A failure that was stored for waiting clients does not reserve the key. */
function mayOrder(record: OrderRecord, next: OrderRecord): boolean {
  if (record.state.kind === 'finished') return false;
  if (isHidden(record)) return true;
  if (next.isAwaited && !needsConsent(record.state)) return true;
  return next.order.orderAgain && isSameOrder(record, next);
}

function afterSending(
  record: OrderRecord | null,
  { own, mayBeLost }: { own: OrderRecord; mayBeLost: boolean },
): OrderRecord | null {
  // It may have been released since.
  const isOwn = record === null ? mayBeLost : isRunBy(record, own) && record.process === own.process;
  if (!isOwn) return record;
  const isAwaited = record?.isAwaited ?? own.isAwaited;
  return { ...own, isAwaited, attempts: own.attempts + 1, state: { kind: 'sent' } };
}

function afterAnswer(record: OrderRecord | null, own: OrderRecord, state: EndedState): OrderRecord {
  if (record === null) return { ...own, state };
  const isAwaitingAnswer = !isEnded(record) || (record.state.kind === 'failed' && record.state.failure === null);
  if (record.run === own.run && isAwaitingAnswer) return { ...record, state, earlier: null };
  // A text that was paid for is kept, also if another process has taken over meanwhile, unless there is one already.
  const isFirstEssay = state.kind === 'finished' && record.state.kind !== 'finished' && isSameOrder(record, own);
  return isFirstEssay ? { ...record, state, earlier: null } : record;
}

function afterUnsent(record: OrderRecord, own: OrderRecord, failure: EssayFailure | null): OrderRecord {
  const unsent = { ...record, attempts: own.attempts };
  if (failure === null && !record.isAwaited) return { ...unsent, state: { kind: 'queued' } };
  // It must not replace what is known of an earlier run.
  if (record.earlier !== null) return { ...unsent, ...record.earlier, earlier: null };
  if (failure === null) return { ...unsent, state: { kind: 'cancelled', mayHaveBeenPaid: false } };
  return { ...unsent, state: { kind: 'failed', failure } };
}

/** As it was before, unless another client has started it since: then it is that client's order. */
function afterRefusal(record: OrderRecord, { own, before }: { own: OrderRecord; before: OrderRecord | null }) {
  return record.isRepeated || record.isAwaited !== own.isAwaited ? record : before;
}

function afterCancellation(record: OrderRecord, cancelsSent: boolean): OrderRecord {
  const { isAwaited, state, earlier } = record;
  const isSent = state.kind === 'sent';
  if (isAwaited || isEnded(record) || (isSent && !cancelsSent)) return record;
  const mayHaveBeenPaid = isSent || (earlier !== null && needsConsent(earlier.state));
  return { ...record, earlier: null, state: { kind: 'cancelled', mayHaveBeenPaid } };
}

function afterTakeOver(record: OrderRecord, by: { process: string; run: string }): OrderRecord {
  const { process } = by;
  if (record.state.kind === 'sent')
    return { ...record, process, state: { kind: 'failed', failure: null }, earlier: null };
  if (record.state.kind !== 'queued') return record;
  // Its client left when its process stopped.
  return record.isAwaited ? afterUnsent(record, record, null) : { ...record, ...by };
}

/** What was stored later than the process knows remains, but not a state that comes before its own. */
function afterLoss(record: OrderRecord | null, own: OrderRecord): OrderRecord {
  if (record === null) return own;
  if (own.state.kind !== 'sent' || record.state.kind !== 'queued') return record;
  if (record.run === own.run) return { ...record, attempts: own.attempts, listed: own.listed, state: own.state };
  // Another process, which found no record, has queued the order since.
  return record.earlier === null ? own : record;
}

function isRunBy(record: OrderRecord, own: OrderRecord): boolean {
  return record.run === own.run && !isEnded(record);
}

export function isEnded(record: OrderRecord): record is EndedOrder {
  return record.state.kind !== 'queued' && record.state.kind !== 'sent';
}

type EndedOrder = OrderRecord & { state: EndedState };

/** Whether it was sent and not refused, so that it is sent again only with `orderAgain`. */
export function needsConsent(state: OrderRecord['state']): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return false;
  return state.failure === null || (state.failure.kind === 'service-failed' && state.failure.outcome !== undefined);
}

/** The result for a client that waits. Null: it was cancelled, or its client left, before it was sent. */
export function toResult(state: EndedState): EssayResult | null {
  if (state.kind === 'finished') return state.essay;
  if (state.kind === 'failed') return state.failure ?? unknownOutcome;
  return state.mayHaveBeenPaid ? unknownOutcome : null;
}

/** An order of `generateEssay` that was never sent: only its client sees its failure. */
export function isHidden({ isAwaited, attempts, earlier, state }: OrderRecord): boolean {
  return isAwaited && attempts === 0 && earlier === null && state.kind !== 'sent' && state.kind !== 'finished';
}

export function isSameOrder(one: { order: OrderInput }, other: { order: OrderInput }): boolean {
  return toFingerprint(one.order) === toFingerprint(other.order);
}

/** The fingerprint of the input, trimmed, as on the wire. */
function toFingerprint({ description, mode, wordCount, purpose, titles }: EssayInput): string {
  return hash([description.trim(), mode, wordCount, purpose, titles.map((title) => title.trim())]);
}

/** The id of the order with this key. Who knows neither the caller nor the key cannot guess it. */
export function toOrderId(idempotencyKey: string, callerId: string): string {
  return hash(['essay-job', callerId, idempotencyKey]);
}

/** Where an order is stored. It includes the caller, so that a caller cannot read the orders of another. */
export function toRecordKey(id: string, callerId: string): string {
  return `essay-record:${hash([callerId, id])}`;
}

export function recordKeyOf({ id, caller }: OrderRecord): string {
  return toRecordKey(id, caller.id);
}

/** Where the essay with this id is stored, or the key of its order. */
export function toEssayKey(id: string, callerId: string): string {
  return `essay:${hash([callerId, id])}`;
}

/** Hashes the parts as JSON, so that different parts never give the same text. */
export function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** A stored record; null if there is none. @throws StoreError when it is damaged or of a later version */
export function parseRecord<T>(schema: z.ZodType<T>, text: string | null): T | null {
  try {
    return text === null ? null : schema.parse(JSON.parse(text));
  } catch {
    throw new StoreError('a record is damaged or of a later version', 'corrupt');
  }
}
