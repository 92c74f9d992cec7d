import * as z from 'zod';

const writingModes = ['Standard', 'Academic', 'Professional', 'Journalistic', 'Detailed'] as const;
export type WritingMode = (typeof writingModes)[number];

export interface WritingOrder {
  /** Topic and points to cover, as the caller wrote them. */
  description: string;
  mode: WritingMode;
  /** Maximum number of words. */
  wordCount: number;
}

/** A language model or the offline drafter. */
export interface Writer {
  /** What writes, as the service reports it. */
  kind: 'drafter' | 'model';
  /**
   * Resolves to a text of 1 to `wordCount` words. Rejects if it fails or the signal fires.
   * @param onText called with each further part of the text, as soon as it is certain that the text begins with these parts
   */
  write(order: WritingOrder, signal: AbortSignal, onText?: (part: string) => void): Promise<string>;
}

type WritingOrderReading = { kind: 'order'; order: WritingOrder } | { kind: 'invalid'; message: string };

/** Reads a request body. The message names each invalid parameter and what would be right. */
export function readWritingOrder(body: unknown): WritingOrderReading {
  const result = bodySchema.safeParse(body);
  if (!result.success) {
    return { kind: 'invalid', message: result.error.issues.map(({ message }) => message).join(' ') };
  }
  const { description, mode, word_count: wordCount } = result.data;
  return { kind: 'order', order: { description, mode, wordCount } };
}

const description = 'description must be text with the topic and the points to cover.';
const mode = `mode must be one of ${writingModes.join(', ')}.`;
const wordCount = 'word_count must be a whole number from 1 to 2000, sent as a JSON number.';
const missing = (parameter: string, rule: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `${parameter} is missing: ${rule}` : rule;

/** The body of a request, also for its documentation. */
export const bodySchema = z.object(
  {
    description: z
      .string({ error: missing('description', description) })
      .refine((text) => text.trim(), description)
      .describe('The topic and the points to cover.'),
    mode: z.preprocess(normalizeMode, z.enum(writingModes, { error: missing('mode', mode) })),
    word_count: z
      .int({ error: missing('word_count', wordCount), abort: true })
      .min(1, wordCount)
      .max(2000, wordCount)
      .describe('Largest number of words.'),
  },
  { error: 'The body must be a JSON object with description, mode and word_count.' },
);

/** Case-insensitive: only one spelling of the modes is documented. */
function normalizeMode(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return writingModes.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}
