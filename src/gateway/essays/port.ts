import * as z from 'zod';
import type { Signal } from '../../base/async/signal.ts';
import { upstreamErrorCodes } from '../../base/errors.ts';
import type { CallLimit, RequestContext } from '../request-context.ts';

const essayModes = ['STANDARD', 'ACADEMIC', 'PROFESSIONAL', 'NEWS_REPORT', 'DETAILED'] as const;
export type EssayMode = (typeof essayModes)[number];
const essayWriters = ['DRAFTER', 'MODEL', 'SERVICE'] as const;
/** The service that the gateway starts reports its drafter or its language model; any other service is SERVICE. */
export type EssayWriter = (typeof essayWriters)[number];
const writingPurposes = ['NARRATIVE', 'ARGUMENTATIVE', 'EXPOSITORY', 'DESCRIPTIVE'] as const;

/** Limits of an order: words, titles, and characters of each text. Only the number of words is the service's own limit. */
export const essayLimits = { wordCount: 2_000, titles: 20, description: 10_000, title: 200, idempotencyKey: 200 };

/* Schemas are for what is stored. */

const date = z.coerce.date();

/** What an essay is about. */
export type EssayInput = z.infer<typeof inputSchema>;
export const inputSchema = z.object({
  /** Topic and points to cover. */
  description: z.string(),
  mode: z.enum(essayModes),
  /** Maximum number of words. */
  wordCount: z.number(),
  purpose: z.enum(writingPurposes).nullable(),
  /** Titles for the service to choose from; empty: it writes one. */
  titles: z.array(z.string()).readonly(),
});

export interface OrderInput extends EssayInput {
  /** Chosen by the client: once an essay was written, the same order with the same key returns it, unpaid. */
  idempotencyKey: string | null;
  /** Accepts a second payment if an earlier attempt with the same key was sent, and the service has not refused it. */
  orderAgain: boolean;
}

export type KeyedOrder = OrderInput & { idempotencyKey: string };

export type EssayResult = Essay | InvalidEssayInput | EssayAllowanceExhausted | EssayServiceFailed;

export type Essay = z.infer<typeof essaySchema>;
export const essaySchema = z.object({
  kind: z.literal('essay'),
  /** A random UUID, so that it cannot be guessed. */
  id: z.string(),
  text: z.string(),
  /** Words in the text, counted by the gateway. */
  wordCount: z.number(),
  mode: z.enum(essayModes),
  writer: z.enum(essayWriters),
  createdAt: date,
  /** When the stored essay expires. */
  keptUntil: date,
  input: inputSchema,
  /** False while the store fails, and only this process has it. */
  isStored: z.literal(false).optional(),
});

/** The order must be changed before it can succeed. No essay was written. */
export interface InvalidEssayInput {
  kind: 'invalid-input';
  message: string;
  /** Empty when the service does not report which fields are invalid. */
  problems: readonly EssayFieldProblem[];
}

export interface EssayFieldProblem {
  /** By its GraphQL name. */
  field: keyof OrderInput;
  reason: 'REQUIRED' | 'TOO_LONG' | 'TOO_MANY' | 'OUT_OF_RANGE' | 'KEY_REUSED';
  /** Inclusive: words, titles or characters. Null if the reason has no limits. */
  range: { min: number; max: number } | null;
  /** What is wrong and what would be right, without names of the API. */
  message: string;
}

/** The allowance, or the caller's budget, is exhausted, or the service has asked not to be called: the message says which. */
export type EssayAllowanceExhausted = z.infer<typeof exhaustedSchema>;
const exhaustedSchema = z.object({
  kind: z.literal('allowance-exhausted'),
  message: z.string(),
  code: z.enum(['UPSTREAM_ALLOWANCE_EXHAUSTED', 'BUDGET_EXHAUSTED', 'PAID_CALLS_EXCEEDED']),
  /** When orders are accepted again; null when the service does not report that. */
  renewsAt: date.nullable(),
});

export type EssayServiceFailed = z.infer<typeof failedSchema>;
const failedSchema = z.object({
  kind: z.literal('service-failed'),
  message: z.string(),
  code: z.enum(upstreamErrorCodes),
  /** Whether the same order may succeed if it is sent again. */
  retryable: z.boolean(),
  /** The received part of a response that was paid for and cannot be read as an essay; null if nothing was received. */
  rawText: z.string().nullable(),
  /**
   * Set if the order was sent and the service has not refused it: it may have been paid for, and is sent again only with
   * `orderAgain`. `unreadable`: `rawText` is a whole 2xx body as it was received, without the gateway's own secrets, which can be
   * read again after the operator has declared its fields. `unknown`: no whole response was received.
   */
  outcome: z.enum(['unreadable', 'unknown']).optional(),
});

export type EssayFailure = Exclude<EssayResult, Essay>;
export const failureSchema: z.ZodType<EssayFailure> = z.discriminatedUnion('kind', [
  // Only rejections by the service are stored, which does not report fields.
  z.object({ kind: z.literal('invalid-input'), message: z.string(), problems: z.tuple([]) }),
  exhaustedSchema,
  failedSchema,
]);

/** Sends orders to the essay service. */
export interface EssaySender {
  /**
   * Waits for a place among the calls in flight. Rejects only when the caller aborts.
   * @param onText called with the whole text so far, while a service that shows it writes. Must not throw
   */
  reserve(order: OrderInput, context: RequestContext, onText?: (textSoFar: string) => void): Promise<EssayStep>;
  /** The essay in a body that could not be read when it was received; null if there is still none. Calls no service. */
  reparse(order: OrderInput, rawText: string): Essay | null;
}

/** A place to send an order, or its result. */
export type EssayStep = EssaySlot | EssayResult;

export interface EssaySlot {
  kind: 'slot';
  /** Whether the order can still be sent. */
  isOpen(): boolean;
  /** Sends the order, which may be charged from now on. Another slot: it was not charged, and can be sent once more. Rejects as `reserve`. */
  send(): Promise<EssayStep>;
  /** Gives the place back. @returns the result of an order that is not sent */
  release(): EssayFailure;
}

/** An order that was started, and is written without its client; or one of `generateEssay` with a key, from when it is sent. */
export interface EssayOrder {
  /** Derived from the caller and the idempotency key; it cannot be guessed. */
  id: string;
  createdAt: Date;
  input: EssayInput;
  state: EssayOrderState;
  /** Whether `cancel` would cancel it now. */
  isCancellable: boolean;
  /** What was read from the store for it, approximately. */
  bytes: number;
}

export type EssayOrderState =
  /** `position`: number of orders of its process that wait before it. */
  | { kind: 'queued'; position: number }
  /** It was sent, and may be paid for. */
  | { kind: 'writing'; textSoFar: string }
  | { kind: 'finished'; essayId: string }
  | { kind: 'failed'; failure: EssayFailure }
  | { kind: 'cancelled'; mayHaveBeenPaid: boolean };

/** What callers do with essays. Functions throw StoreError when the store fails, except `generate` and `start`. Each order may be charged. */
export interface Essays {
  /** Orders an essay, and waits for it. With an idempotency key, it is found as those that were started. Rejects only when the caller aborts. */
  generate(order: OrderInput, caller: OrderCaller, context: RequestContext): Promise<EssayResult>;
  /** Returns when the order is stored. The same input with the same key is the same order. With a limit, it is sent once, without retries. */
  start(order: KeyedOrder, caller: OrderCaller, callLimit?: CallLimit | null): Promise<EssayOrder | EssayFailure>;
  /** An essay that this caller ordered, until it expires; null if there is none. */
  findEssay(id: string, callerId: string): Promise<Essay | null>;
  /** Null if this caller has no such order. */
  find(id: string, callerId: string): Promise<EssayOrder | null>;
  findByKey(idempotencyKey: string, callerId: string): Promise<EssayOrder | null>;
  /** The order now, and after each change; ends with its last state. Changes that are not read in time are left out. */
  watch(id: string, callerId: string, signal: Signal): Promise<AsyncGenerator<EssayOrder | null>>;
  /** Cancels an order that has not ended; one that was sent only if the operator allows it. Null for an unknown order. */
  cancel(id: string, callerId: string): Promise<Cancellation | null>;
  /** The number of the newest entry in the list of a caller, which begins at 1; 0: it has none. */
  lastEntry(callerId: string): Promise<number>;
  /** The order of an entry. Null: it was deleted, has expired, cannot be read, or has a later entry, because it was started again. */
  findListed(number: number, callerId: string): Promise<EssayOrder | null>;
  /** Deletes an order that has ended, with its essay. */
  delete(id: string, callerId: string): Promise<OrderDeletion>;
}

/** The part of a caller that an order needs when another process continues it. */
export type OrderCaller = z.infer<typeof callerSchema>;
const price = z.object({ millionths: z.number(), currency: z.string() }).optional();
const callBudget = z.object({ calls: z.number(), period: z.enum(['day', 'month']), price }).nullable();
export const callerSchema = z.object({
  id: z.string(),
  name: z.string(),
  limits: z.object({
    requestsPerMinute: z.number().nullable(),
    bankDataCalls: callBudget,
    essayCalls: callBudget,
    maxQueryCost: z.number().nullable(),
  }),
  /** Limits of the tool with which an agent made the order. */
  toolLimits: z
    .array(z.object({ key: z.string(), maxCalls: z.number(), isShown: z.boolean() }))
    .readonly()
    .optional(),
});

export interface Cancellation {
  order: EssayOrder;
  isCancelled: boolean;
  mayHaveBeenPaid: boolean;
}

export interface OrderDeletion {
  result: 'deleted' | 'unknown' | 'not-ended';
  /** What was read from the store for it, approximately. */
  bytes: number;
}
