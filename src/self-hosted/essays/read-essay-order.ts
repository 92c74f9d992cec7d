import { z } from 'zod';
import { type EssayOrder, essayModes } from './essay-writer.ts';

export type EssayOrderReading = { kind: 'order'; order: EssayOrder } | { kind: 'refused'; complaint: string };

/** Reads a request body. A complaint names each parameter that is at fault and says what would be right. */
export function readEssayOrder(body: unknown): EssayOrderReading {
  const result = bodySchema.safeParse(body);
  if (!result.success) {
    return { kind: 'refused', complaint: result.error.issues.map(({ message }) => message).join(' ') };
  }
  const { description, mode, word_count: wordCount } = result.data;
  return { kind: 'order', order: { description, mode, wordCount } };
}

const description = 'description must be text that names the topic and the points to cover.';
const mode = `mode must be one of ${essayModes.join(', ')}.`;
const wordCount = 'word_count must be a whole number from 1 to 2000, sent as a JSON number.';
const missing = (parameter: string, rule: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `${parameter} is missing: ${rule}` : rule;

const bodySchema = z.object(
  {
    description: z.string({ error: missing('description', description) }).refine(hasText, description),
    mode: z.preprocess(respellMode, z.enum(essayModes, { error: missing('mode', mode) })),
    word_count: z
      .number({ error: missing('word_count', wordCount) })
      .refine((count) => Number.isInteger(count) && count >= 1 && count <= 2000, wordCount),
  },
  { error: 'The body must be a JSON object with description, mode and word_count.' },
);

function hasText(text: string): boolean {
  return text.trim() !== '';
}

/** One documented spelling and three published ones: how a caller capitalises them makes no difference. */
function respellMode(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return essayModes.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}
