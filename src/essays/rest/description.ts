import type { EssayOrder } from '../essays.ts';

/**
 * The description as the service is sent it. Purpose and titles have no parameter on the wire: they travel as plain
 * sentences in the one place that the service documents for instructions.
 */
export function composeDescription({ description, purpose, titles }: EssayOrder): string {
  const sentences = [description.trim()];
  if (purpose) sentences.push(`Writing purpose: ${purpose.toLowerCase()}.`);
  if (titles.length > 0) sentences.push(`Title options: ${titles.map((title) => title.trim()).join(', ')}.`);
  return sentences.join('\n\n');
}
