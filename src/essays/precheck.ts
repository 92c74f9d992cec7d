import {
  type EssayGenerator,
  type EssayOrder,
  type InvalidEssayInput,
  maxIdempotencyKeyLength,
  wordCountLimits,
} from './essays.ts';

/** Rejects orders that the service is documented to reject, so that they never cost a paid call. */
export function withOrderPrecheck(generator: EssayGenerator): EssayGenerator {
  return {
    generate: async (order, context, onSent) => findOrderProblem(order) ?? generator.generate(order, context, onSent),
  };
}

function findOrderProblem({ description, wordCount, titles, idempotencyKey }: EssayOrder): InvalidEssayInput | null {
  if (description.trim() === '') {
    return invalid('description', 'description is empty; name the topic and the points to cover.');
  }
  const { min, max } = wordCountLimits;
  if (wordCount < min || wordCount > max) {
    return invalid('wordCount', `wordCount is ${wordCount}; it must be from ${min} to ${max}.`);
  }
  if (titles.some((title) => title.trim() === '')) {
    return invalid('titles', 'titles contains an empty title; remove it or write one.');
  }
  if (idempotencyKey === '') {
    return invalid('idempotencyKey', 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.');
  }
  if (idempotencyKey !== null && idempotencyKey.length > maxIdempotencyKeyLength) {
    return invalid('idempotencyKey', `idempotencyKey must have at most ${maxIdempotencyKeyLength} characters.`);
  }
  return null;
}

function invalid(field: InvalidEssayInput['field'], message: string): InvalidEssayInput {
  return { kind: 'invalid-input', field, message };
}
