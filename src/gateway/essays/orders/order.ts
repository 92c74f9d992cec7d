import { createHash } from 'node:crypto';
import * as z from 'zod';
import { StoreError } from '../../stores/store.ts';
import type { EssayOutcome } from '../../telemetry/events.ts';
import {
  callerSchema,
  type EssayFailure,
  type EssayFieldProblem,
  type EssayInput,
  type EssayResult,
  type EssayServiceFailed,
  essayLimits,
  essaySchema,
  failureSchema,
  type InvalidEssayInput,
  inputSchema,
  type OrderInput,
} from '../port.ts';

const orderSchema = inputSchema.extend({ idempotencyKey: z.string(), orderAgain: z.boolean() });

const finished = z.object({ kind: z.literal('finished'), essay: essaySchema });
/** Null: its owner has died after it was sent. */
const failed = z.object({ kind: z.literal('failed'), failure: failureSchema.nullable() });
const cancelled = z.object({ kind: z.literal('cancelled'), mayHaveBeenPaid: z.boolean() });

export type EndedState = z.infer<typeof endedState>;
const endedState = z.discriminatedUnion('kind', [finished, failed, cancelled]);

/** It was started, and any process may send it. `earlier`: how an attempt ended that may have been paid for. */
const queued = z.object({ kind: z.literal('queued'), earlier: endedState.nullable() });
/** It may be paid for. Written before the first byte is sent, by the process that sends it, and while the service shows its text. */
const sent = z.object({ kind: z.literal('sent'), owner: z.string(), textSoFar: z.string().optional() });

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
  /** It is sent once, without retries: the request that started it limits its paid calls. */
  isSentOnce: z.boolean().optional(),
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
  | { kind: 'text-shown'; run: string; textSoFar: string | undefined }
  /** The process of this run has not sent it. Null: it is as it was before. */
  | { kind: 'unsent'; run: string; before: OrderRecord | null; failure: EssayFailure | null; calls?: number }
  /** What was sent has ended, after so many calls. */
  | { kind: 'ended'; own: OrderRecord; state: EndedState; calls?: number }
  | { kind: 'owner-died'; run: string }
  /** @param cancelsSent whether one that was sent ends as well */
  | { kind: 'cancelled'; cancelsSent: boolean; calls?: number };

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
    case 'text-shown':
      return record?.state.kind === 'sent' && record.run === event.run && record.state.textSoFar !== event.textSoFar
        ? { ...record, state: { ...record.state, textSoFar: event.textSoFar } }
        : record;
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
  if (!mayOrder(record, next)) return record;
  const earlier = isEnded(record) && needsConsent(record.state) ? record.state : null;
  return { ...next, state: { kind: 'queued', earlier } };
}

/** Whether an order has ended, and is sent once more. A failure does not reserve the key for a client that waits. */
export function mayOrder(record: OrderRecord, next: OrderRecord): boolean {
  if (!isEnded(record) || record.state.kind === 'finished') return false;
  if (next.isAwaited && !needsConsent(record.state)) return true;
  return next.order.orderAgain && isSameOrder(record, next);
}

/** Whether this end of another run is the result for a client that has waited for it. */
export function isResultFor({ state, ...record }: OrderRecord, next: OrderRecord): boolean {
  const isKnown =
    state.kind === 'failed' ? state.failure !== null : state.kind === 'cancelled' && state.mayHaveBeenPaid;
  return isKnown && isSameOrder(record, next);
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
function needsConsent(state: OrderRecord['state']): boolean {
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

/* The failures that the gateway itself finds, with their messages. Those of the service are created from its response. */

/** Why neither the gateway nor the service would accept an order, which so costs no paid call; null if nothing is wrong with it. */
export function rejectInvalidOrder(order: OrderInput): InvalidEssayInput | null {
  const { description, wordCount, titles, idempotencyKey } = order;
  const limits = essayLimits;
  const problems: EssayFieldProblem[] = [];
  type Limit = keyof typeof limits;
  const find = (isWrong: boolean, limit: Limit, reason: EssayFieldProblem['reason'], message: string) => {
    const field = limit === 'title' ? 'titles' : limit;
    const range = { min: reason === 'TOO_MANY' ? 0 : 1, max: limits[limit] };
    if (isWrong) problems.push({ field, reason, range, message });
  };
  const findLong = (texts: readonly string[], limit: Limit, name: string) => {
    const isLong = texts.some((text) => text.length > limits[limit]);
    find(isLong, limit, 'TOO_LONG', `${name} must have at most ${limits[limit]} characters.`);
  };

  findLong([description], 'description', 'The description');
  const isEmpty = description.length <= limits.description && description.trim() === '';
  const required = 'The description must not be empty; describe the topic and the points to cover.';
  find(isEmpty, 'description', 'REQUIRED', required);
  const range = `The number of words is ${wordCount}; it must be from 1 to ${limits.wordCount}.`;
  find(wordCount < 1 || wordCount > limits.wordCount, 'wordCount', 'OUT_OF_RANGE', range);
  find(titles.length > limits.titles, 'titles', 'TOO_MANY', `There must be at most ${limits.titles} titles.`);
  findLong(titles, 'title', 'A title');
  const hasEmpty = titles.some((title) => title.trim() === '');
  find(hasEmpty, 'title', 'REQUIRED', 'A title is empty; remove or replace it.');
  const unique = 'The idempotency key is empty; choose a unique one, such as a UUID.';
  find(idempotencyKey === '', 'idempotencyKey', 'REQUIRED', unique);
  findLong([idempotencyKey ?? ''], 'idempotencyKey', 'The idempotency key');
  return problems.length === 0 ? null : toInvalidInput(problems);
}

function toInvalidInput(problems: readonly EssayFieldProblem[]): InvalidEssayInput {
  return { kind: 'invalid-input', message: problems.map(({ message }) => message).join(' '), problems };
}

/** The result if the idempotency key was already used with a different input. */
export const differentOrder = toInvalidInput([
  {
    field: 'idempotencyKey',
    reason: 'KEY_REUSED',
    range: null,
    message: 'The idempotency key was used for a different order; choose a new key for this order.',
  },
]);

export function tooManyOrders(max: number): EssayFailure {
  return unsentFailure(`${max} of your orders have not ended. Start another one when one of them has.`);
}

export function tooManyBytes(maxMegabytes: number): EssayFailure {
  return unsentFailure(
    `Your stored orders may have at most ${maxMegabytes} MB in total. Delete orders that have ended, or start this one when ` +
      'others have expired.',
  );
}

/** Without the store, it is unknown whether an order was paid for already. A retry may succeed, as after `shed`. */
export const unsafeOrder = unsentFailure(
  'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later.',
);
/** The store has not answered when an order was started. */
export const unconfirmedOrder = unsentFailure(
  'The store did not confirm the order, so it may be stored, and is then written. Send it again with the same idempotency ' +
    'key, or look for it by that key: it is paid for once.',
);
export const withdrawnFailure = unsentFailure(
  'The API key of the caller was withdrawn before the order was sent, so the essay service was not called.',
  { retryable: false },
);
export const cancelledFailure = unknownFailure('The order was cancelled after it was sent. It may have been paid for.');
export const unexpectedFailure = unknownFailure('The gateway failed unexpectedly. The order may have been paid for.');
export const unexpectedlyUnsent = unsentFailure('The gateway failed unexpectedly, before the order was sent.');

/** The process that sent it has crashed, has stalled, or could not store its outcome. */
export const unknownOutcome = unknownFailure(
  'An earlier attempt of this order was sent, and its outcome is unknown: it may have been paid for. Order the essay ' +
    'again only if it may be paid for twice.',
);

/** The failure of an order that this process did not send. */
function unsentFailure(message: string, { retryable = true } = {}): EssayServiceFailed {
  return { kind: 'service-failed', message, code: 'UPSTREAM_UNAVAILABLE', retryable, rawText: null };
}

/** The failure of an order that was sent, and may have been paid for. */
function unknownFailure(message: string): EssayServiceFailed {
  return { ...unsentFailure(message, { retryable: false }), code: 'UPSTREAM_FAILED', outcome: 'unknown' };
}

export const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
