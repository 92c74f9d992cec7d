import {
  type EssayGenerator,
  type EssayOrder,
  type InvalidEssayInput,
  maxIdempotencyKeyLength,
  wordCountLimits,
} from './essays.ts';

/** Rejects orders that the service or the gateway does not accept, so that they never cost a paid call. */
export function withOrderPrecheck(generator: EssayGenerator): EssayGenerator {
  return {
    generate: async (order, context) => findOrderProblem(order) ?? generator.generate(order, context),
  };
}

function findOrderProblem({ description, wordCount, titles, idempotencyKey }: EssayOrder): InvalidEssayInput | null {
  if (description.trim() === '') {
    return invalid('description', 'description must not be empty; describe the topic and the points to cover.');
  }
  const { min, max } = wordCountLimits;
  if (wordCount < min || wordCount > max) {
    return invalid('wordCount', `wordCount is ${wordCount}; it must be from ${min} to ${max}.`);
  }
  if (titles.some((title) => title.trim() === '')) {
    return invalid('titles', 'titles must not contain an empty title; remove or replace it.');
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
