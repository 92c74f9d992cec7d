import type { EssayOrder } from '../essays.ts';

/**
 * The description on the wire. The service has no parameters for purpose and titles, and documents the description as
 * the place for instructions.
 */
export function composeDescription({ description, purpose, titles }: EssayOrder): string {
  const sentences = [description.trim()];
  if (purpose) sentences.push(`Writing purpose: ${purpose.toLowerCase()}.`);
  if (titles.length > 0) sentences.push(`Title options: ${titles.map((title) => title.trim()).join(', ')}.`);
  return sentences.join('\n\n');
}
