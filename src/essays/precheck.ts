import type { Events } from '../telemetry/events.ts';
import { type EssayGenerator, type EssayOrder, essayLimits, type InvalidEssayInput } from './essays.ts';

/** Rejects orders that the service or the gateway does not accept, so that they never cost a paid call. */
export function withOrderPrecheck(generator: EssayGenerator, events: Pick<Events, 'essayOrdered'>): EssayGenerator {
  return {
    async generate(order, context) {
      const problem = findOrderProblem(order);
      if (problem) events.essayOrdered('rejected');
      return problem ?? generator.generate(order, context);
    },
  };
}

function findOrderProblem({ description, wordCount, titles, idempotencyKey }: EssayOrder): InvalidEssayInput | null {
  if (description.length > essayLimits.description) return tooLong('description', essayLimits.description);
  if (description.trim() === '') {
    return invalid('description', 'description must not be empty; describe the topic and the points to cover.');
  }
  if (wordCount < 1 || wordCount > essayLimits.wordCount) {
    return invalid('wordCount', `wordCount is ${wordCount}; it must be from 1 to ${essayLimits.wordCount}.`);
  }
  if (titles.length > essayLimits.titles) {
    return invalid('titles', `titles must have at most ${essayLimits.titles} entries.`);
  }
  if (titles.some((title) => title.length > essayLimits.title)) return tooLong('titles', essayLimits.title);
  if (titles.some((title) => title.trim() === '')) {
    return invalid('titles', 'titles must not contain an empty title; remove or replace it.');
  }
  if (idempotencyKey === '') {
    return invalid('idempotencyKey', 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.');
  }
  if (idempotencyKey !== null && idempotencyKey.length > essayLimits.idempotencyKey) {
    return tooLong('idempotencyKey', essayLimits.idempotencyKey);
  }
  return null;
}

function tooLong(field: keyof EssayOrder, maxLength: number): InvalidEssayInput {
  return invalid(field, `${field} must have at most ${maxLength} characters.`);
}

function invalid(field: InvalidEssayInput['field'], message: string): InvalidEssayInput {
  return { kind: 'invalid-input', field, message };
}
