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

const orderSchema = inputSchema.extend({ idempotencyKey: z.string(), orderAgain: z.boolean() });

const finished = z.object({ kind: z.literal('finished'), essay: essaySchema });
/** Null: its owner has died after it was sent. */
const failed = z.object({ kind: z.literal('failed'), failure: failureSchema.nullable() });
const cancelled = z.object({ kind: z.literal('cancelled'), mayHaveBeenPaid: z.boolean() });

export type EndedState = z.infer<typeof endedState>;
const endedState = z.discriminatedUnion('kind', [finished, failed, cancelled]);

/** It was started, and any process may send it. `earlier`: how an attempt ended that may have been paid for. */
const queued = z.object({ kind: z.literal('queued'), earlier: endedState.nullable() });
/** It may be paid for. Written before the first byte is sent, by the process that sends it. */
const sent = z.object({ kind: z.literal('sent'), owner: z.string() });

/** The version of the form of records. */
const recordVersion = 3;

/** An order with an idempotency key, as it is stored. Each of its changes is a `transition`, and one compare-and-set in the store. */
export type OrderRecord = Omit<z.infer<typeof recordSchema>, 'version'>;
const recordSchema = z.object({
  version: z.literal(recordVersion),
  /** Derived from the caller and the idempotency key. */
  id: z.string(),
  createdAt: z.coerce.date(),
  order: orderSchema,
  caller: callerSchema,
  /** Whether its client waits for it (`generateEssay`). It is stored from when it is sent. */
  isAwaited: z.boolean(),
  /** Number of its entry in the caller's list, where orders that were started again have earlier ones, too. Null: it is not listed. */
  listed: z.number().nullable(),
  /** Random: another one whenever it is queued or sent. */
  run: z.string(),
  state: z.discriminatedUnion('kind', [queued, sent, finished, failed, cancelled]),
});

export type OrderEvent =
  /** A client starts it. `next` is queued. */
  | { kind: 'started'; next: OrderRecord }
  /** A process is about to send it, which knows it as `before`. `next` is sent. */
  | { kind: 'sending'; before: OrderRecord | null; next: OrderRecord }
  /** The process of this run has not sent it. Null: it is as it was before. */
  | { kind: 'unsent'; run: string; before: OrderRecord | null; failure: EssayFailure | null }
  /** What was sent has ended. */
  | { kind: 'ended'; own: OrderRecord; state: EndedState }
  | { kind: 'owner-died'; run: string }
  /** @param cancelsSent whether one that was sent ends as well */
  | { kind: 'cancelled'; cancelsSent: boolean };

/** The only way from one state of an order to the next. @returns the same object if the event changes nothing */
export function transition(record: OrderRecord | null, event: OrderEvent): OrderRecord | null {
  switch (event.kind) {
    case 'started':
      return afterStart(record, event.next);
    case 'sending':
      return maySend(record, event) ? { ...event.next, listed: event.next.listed ?? record?.listed ?? null } : record;
    case 'unsent':
      return afterUnsent(record, event);
    case 'ended':
      return afterEnd(record, event.own, event.state);
    case 'owner-died':
      return record?.state.kind === 'sent' && record.run === event.run
        ? { ...record, state: { kind: 'failed', failure: null } }
        : record;
    case 'cancelled':
      return record && afterCancellation(record, event.cancelsSent);
  }
}

function afterStart(record: OrderRecord | null, next: OrderRecord): OrderRecord | null {
  if (record === null) return next;
  if (!isEnded(record) || !mayOrder(record, next)) return record;
  return { ...next, state: { kind: 'queued', earlier: needsConsent(record.state) ? record.state : null } };
}

/** Whether an order that has ended is sent once more. A failure of a client that waited does not reserve the key. */
export function mayOrder(record: OrderRecord & { state: EndedState }, next: OrderRecord): boolean {
  if (record.state.kind === 'finished') return false;
  if (next.isAwaited && !needsConsent(record.state)) return true;
  return next.order.orderAgain && isSameOrder(record, next);
}

/** Only one process sends it, and only for what its client knew: consent is for the attempt that the client has seen. */
function maySend(
  record: OrderRecord | null,
  { before, next }: { before: OrderRecord | null; next: OrderRecord },
): boolean {
  if (record === null || before === null) return record === before;
  if (record.run !== before.run) return false;
  return isEnded(record) ? isEnded(before) && mayOrder(record, next) : record.state.kind === 'queued';
}

function afterUnsent(
  record: OrderRecord | null,
  { run, before, failure }: { run: string; before: OrderRecord | null; failure: EssayFailure | null },
): OrderRecord | null {
  const isOwn = record?.run === run && record.state.kind === 'sent';
  const isQueued = record !== null && record.run === before?.run && record.state.kind === 'queued';
  if (!isOwn && !isQueued) return record;
  if (failure === null || before?.state.kind !== 'queued') return before;
  // It must not replace what is known of an earlier attempt.
  return { ...before, state: before.state.earlier ?? { kind: 'failed', failure } };
}

function afterEnd(record: OrderRecord | null, own: OrderRecord, state: EndedState): OrderRecord {
  // Only a store that has lost its data has none. A text that was paid for is kept.
  if (record === null) return { ...own, state };
  const isUnknown = !isEnded(record) || (record.state.kind === 'failed' && record.state.failure === null);
  if (record.run === own.run && isUnknown) return { ...record, state };
  // The client was answered that it is cancelled, before its process has noticed.
  if (record.run === own.run && record.state.kind === 'cancelled') return record;
  const isFirstEssay = state.kind === 'finished' && record.state.kind !== 'finished' && isSameOrder(record, own);
  return isFirstEssay ? { ...record, state } : record;
}

function afterCancellation(record: OrderRecord, cancelsSent: boolean): OrderRecord {
  const { isAwaited, state } = record;
  if (isAwaited || isEnded(record) || (state.kind === 'sent' && !cancelsSent)) return record;
  const mayHaveBeenPaid = state.kind === 'sent' || (state.kind === 'queued' && state.earlier !== null);
  return { ...record, state: { kind: 'cancelled', mayHaveBeenPaid } };
}

export function isEnded(record: OrderRecord): record is OrderRecord & { state: EndedState } {
  return record.state.kind !== 'queued' && record.state.kind !== 'sent';
}

/** Whether it was sent and not refused, so that it is sent again only with `orderAgain`. */
export function needsConsent(state: OrderRecord['state']): boolean {
  if (state.kind === 'cancelled') return state.mayHaveBeenPaid;
  if (state.kind !== 'failed') return false;
  return state.failure === null || (state.failure.kind === 'service-failed' && state.failure.outcome !== undefined);
}

/** The result for a client that waits. Null: it was cancelled before it was sent. */
export function toResult(state: EndedState): EssayResult | null {
  if (state.kind === 'finished') return state.essay;
  if (state.kind === 'failed') return state.failure ?? unknownOutcome;
  return state.mayHaveBeenPaid ? unknownOutcome : null;
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

/** Hashes the parts as JSON, so that different parts never give the same text. */
export function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

export function writeRecord(record: OrderRecord): string {
  return JSON.stringify({ version: recordVersion, ...record });
}

/** A stored order; null if there is none. @throws StoreError when it is damaged or of a later version */
export function readRecord(text: string | null): OrderRecord | null {
  const record = parseStored(z.union([recordSchema, schemaOf021]), text);
  if (record === null) return null;
  if (record.version === 2) return fromVersion2(record);
  const { version, ...order } = record;
  return order;
}

/** @throws StoreError when it is damaged or of a later version */
export function parseStored<T>(schema: z.ZodType<T>, text: string | null): T | null {
  try {
    return text === null ? null : schema.parse(JSON.parse(text));
  } catch {
    throw new StoreError('a record is damaged or of a later version', 'corrupt');
  }
}

/** Records of 0.2.1, which also stored orders of clients that waited before they were sent. */
const schemaOf021 = recordSchema.extend({
  version: z.literal(2),
  process: z.string().nullable(),
  attempts: z.number(),
  earlier: z.object({ order: orderSchema, isAwaited: z.boolean(), state: endedState }).nullable(),
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('queued') }),
    z.object({ kind: z.literal('sent') }),
    finished,
    failed,
    cancelled,
  ]),
});

/** Null for one that was not sent, and whose client has left. One that was sent belongs to its process, whose lease has the same key. */
function fromVersion2(record: z.infer<typeof schemaOf021>): OrderRecord | null {
  const { version, process, attempts, earlier, state, ...order } = record;
  if (state.kind === 'sent') return { ...order, state: { kind: 'sent', owner: process ?? '' } };
  if (state.kind === 'queued' && !order.isAwaited)
    return { ...order, state: { kind: 'queued', earlier: earlier?.state ?? null } };
  if (state.kind === 'queued') return earlier && { ...order, ...earlier };
  const wasSent = attempts > 0 || earlier !== null || state.kind === 'finished' || !order.isAwaited;
  return wasSent ? { ...order, state } : null;
}

/** How a started order has ended, for the log and the metrics. */
export function describeEnd({ id, caller }: OrderRecord, state: EndedState, upstreamCalls = 0) {
  const failure = state.kind === 'failed' ? (state.failure ?? unknownOutcome) : null;
  const code = failure === null ? undefined : 'code' in failure ? failure.code : 'BAD_USER_INPUT';
  return { orderId: id, caller: caller.name, state: state.kind, code, upstreamCalls };
}
