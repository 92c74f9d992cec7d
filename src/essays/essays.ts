import type { UpstreamErrorCode } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';

export const essayModes = ['STANDARD', 'ACADEMIC', 'PROFESSIONAL', 'NEWS_REPORT'] as const;
export type EssayMode = (typeof essayModes)[number];
export const essayWriters = ['DRAFTER', 'MODEL', 'SERVICE'] as const;
/** The service that the gateway starts reports its drafter or its language model; any other service is SERVICE. */
export type EssayWriter = (typeof essayWriters)[number];
type WritingPurpose = 'NARRATIVE' | 'ARGUMENTATIVE' | 'EXPOSITORY' | 'DESCRIPTIVE';

/** Limits of an order: words, titles, and characters of each text. Only the number of words is the service's own limit. */
export const essayLimits = { wordCount: 2_000, titles: 20, description: 10_000, title: 200, idempotencyKey: 200 };

export interface EssayOrder {
  /** Topic and points to cover. */
  description: string;
  mode: EssayMode;
  /** Maximum number of words. */
  wordCount: number;
  purpose: WritingPurpose | null;
  /** Titles for the service to choose from; empty: it writes one. */
  titles: readonly string[];
  /** Chosen by the client: once an essay was written, the same order with the same key returns it, unpaid. */
  idempotencyKey: string | null;
  /** Accepts a second payment if an earlier attempt with the same key was sent and its outcome is unknown. */
  orderAgain: boolean;
}

export type EssayResult = Essay | InvalidEssayInput | EssayAllowanceExhausted | EssayServiceFailed;

export interface Essay {
  kind: 'essay';
  /** A random UUID, so that it cannot be guessed. */
  id: string;
  text: string;
  /** Words in the text, counted by the gateway. */
  wordCount: number;
  mode: EssayMode;
  /** Null if the essay was stored before release 0.2.0. */
  writer: EssayWriter | null;
}

/** The order must be changed before it can succeed. No essay was written. */
export interface InvalidEssayInput {
  kind: 'invalid-input';
  message: string;
  /** The invalid field, by its GraphQL name; null when it is not a single field or the service does not report it. */
  field: EssayFieldProblem['field'] | null;
  /** Empty when the service does not report which fields are invalid. */
  problems: readonly EssayFieldProblem[];
}

export interface EssayFieldProblem {
  field: keyof EssayOrder;
  reason: 'REQUIRED' | 'TOO_LONG' | 'TOO_MANY' | 'OUT_OF_RANGE' | 'KEY_REUSED';
  /** Inclusive: words, titles or characters. Null if the reason has no limits. */
  range: { min: number; max: number } | null;
  /** What is wrong and what would be right, without names of the API. */
  message: string;
}

/** The allowance, or the caller's budget, is exhausted, or the service has asked not to be called: the message says which. */
export interface EssayAllowanceExhausted {
  kind: 'allowance-exhausted';
  message: string;
  code: 'UPSTREAM_ALLOWANCE_EXHAUSTED' | 'BUDGET_EXHAUSTED';
  /** When orders are accepted again; null when the service does not report that. */
  renewsAt: Date | null;
}

export interface EssayServiceFailed {
  kind: 'service-failed';
  message: string;
  code: UpstreamErrorCode;
  /** Whether the same order may succeed if it is sent again. */
  retryable: boolean;
  /** The received part of a response that was paid for and cannot be read as an essay; null if nothing was received. */
  rawText: string | null;
}

/** Writes essays. Every order may be charged. Rejects only when the caller aborts. */
export interface EssayGenerator {
  generate(order: EssayOrder, context: RequestContext): Promise<EssayResult>;
}

/** A generator that reports when an order is sent. */
export interface SendingEssayGenerator {
  generate(order: EssayOrder, context: RequestContext, hooks: SendHooks): Promise<EssayResult>;
}

interface SendHooks {
  /** Called before each attempt, which is sent only if it resolves to true. */
  maySend(): Promise<boolean>;
  /** Called immediately before each attempt: from then on it may be charged. If it throws, the attempt is not sent. */
  beforeAttempt(): void;
}

/** Stored essays, until they expire. */
export interface EssayArchive {
  /** An essay that this caller ordered; null when there is none. @throws GatewayError when the store fails */
  find(id: string, context: RequestContext): Promise<Essay | null>;
}
