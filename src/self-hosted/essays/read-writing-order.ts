import * as z from 'zod';
import { type WritingOrder, writingModes } from './essay-writer.ts';

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

const bodySchema = z.object(
  {
    description: z.string({ error: missing('description', description) }).refine((text) => text.trim(), description),
    mode: z.preprocess(normalizeMode, z.enum(writingModes, { error: missing('mode', mode) })),
    word_count: z
      .number({ error: missing('word_count', wordCount) })
      .refine((count) => Number.isInteger(count) && count >= 1 && count <= 2000, wordCount),
  },
  { error: 'The body must be a JSON object with description, mode and word_count.' },
);

/** Case-insensitive: only one of the four published spellings is documented. */
function normalizeMode(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return writingModes.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}
