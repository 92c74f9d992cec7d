import type { UpstreamErrorCode } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';

export type EssayMode = 'STANDARD' | 'ACADEMIC' | 'PROFESSIONAL' | 'NEWS_REPORT';
export type WritingPurpose = 'NARRATIVE' | 'ARGUMENTATIVE' | 'EXPOSITORY' | 'DESCRIPTIVE';

/** The service's own limits on `word_count`. */
export const wordCountLimits = { min: 1, max: 2000 };

/** In characters. */
export const maxIdempotencyKeyLength = 200;

export interface EssayOrder {
  /** Topic and points to cover. */
  description: string;
  mode: EssayMode;
  /** Most words the text may have. */
  wordCount: number;
  purpose: WritingPurpose | null;
  /** Titles to choose from; empty: the service finds one. */
  titles: readonly string[];
  /** The client's own name for this order: under one name it is paid for once. Null: every order is a new one. */
  idempotencyKey: string | null;
}

/** What came of an order. All of it is foreseen; `generate` rejects only when the caller gave up. */
export type EssayResult = Essay | InvalidEssayInput | EssayAllowanceExhausted | EssayServiceFailed;

export interface Essay {
  kind: 'essay';
  /** Cannot be guessed. Where essays are kept, this one is found by it again. */
  id: string;
  text: string;
  /** Words in the text, counted by the gateway. */
  wordCount: number;
  mode: EssayMode;
}

/** The order must be changed before it can succeed. No essay was written. */
export interface InvalidEssayInput {
  kind: 'invalid-input';
  message: string;
  /** The input field at fault, by its GraphQL name; null when the service did not say. */
  field: keyof EssayOrder | null;
}

export interface EssayAllowanceExhausted {
  kind: 'allowance-exhausted';
  message: string;
  /** When the service takes orders again; null when it did not say. */
  renewsAt: Date | null;
}

export interface EssayServiceFailed {
  kind: 'service-failed';
  message: string;
  code: UpstreamErrorCode;
  /** Whether the same order may succeed when it is sent again. */
  retryable: boolean;
  /** What arrived of a paid answer that could not be read as an essay, as it came; null when nothing did. */
  rawText: string | null;
}

/** Writes essays. Every call may be charged. */
export interface EssayGenerator {
  /** @param onSent called right before the order is sent: from then on it may have been charged */
  generate(order: EssayOrder, context: RequestContext, onSent?: () => void): Promise<EssayResult>;
}

/** The essays that were written, for as long as they are stored. */
export interface EssayArchive {
  /** An essay that was written for this caller; null where there is none. */
  find(id: string, context: RequestContext): Promise<Essay | null>;
}
