import {
  type EssayOrder,
  type EssaysPort,
  type InvalidEssayInput,
  maxIdempotencyKeyLength,
  wordCountLimits,
} from './essays.ts';

/** Refuses what the service is documented to refuse, so that an impossible order never costs a paid call. */
export function withPrecheck(essays: EssaysPort): EssaysPort {
  return {
    ...essays,
    generate: async (order, caller) => findFault(order) ?? essays.generate(order, caller),
  };
}

function findFault({ description, wordCount, titles, idempotencyKey }: EssayOrder): InvalidEssayInput | null {
  if (description.trim() === '') {
    return invalid('description', 'description is empty; name the topic and the points to cover.');
  }
  const { min, max } = wordCountLimits;
  if (wordCount < min || wordCount > max) {
    return invalid('wordCount', `wordCount is ${wordCount}; it must be from ${min} to ${max}.`);
  }
  if (titles.some((title) => title.trim() === '')) {
    return invalid('titles', 'titles holds an empty title; leave it out or give it words.');
  }
  if (idempotencyKey === '') {
    return invalid('idempotencyKey', 'idempotencyKey is empty; leave it out or choose one that no other order has.');
  }
  if (idempotencyKey !== null && idempotencyKey.length > maxIdempotencyKeyLength) {
    return invalid('idempotencyKey', `idempotencyKey is longer than ${maxIdempotencyKeyLength} characters.`);
  }
  return null;
}

function invalid(field: InvalidEssayInput['field'], message: string): InvalidEssayInput {
  return { kind: 'invalid-input', field, message };
}
