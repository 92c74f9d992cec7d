import type { EssayOutcome } from '../../telemetry/events.ts';
import {
  type EssayFailure,
  type EssayFieldProblem,
  type EssayResult,
  type EssayServiceFailed,
  essayLimits,
  type InvalidEssayInput,
  type OrderInput,
} from '../port.ts';

/* The failures that the gateway itself finds, with their messages. Those of the service are created from its response. */

/** Why neither the gateway nor the service would accept an order, which so costs no paid call; null if nothing is wrong with it. */
export function rejectInvalidOrder(order: OrderInput): InvalidEssayInput | null {
  const { description, wordCount, titles, idempotencyKey } = order;
  const limits = essayLimits;
  const problems: EssayFieldProblem[] = [];
  const add = (field: EssayFieldProblem['field'], reason: EssayFieldProblem['reason'], max: number, message: string) =>
    problems.push({ field, reason, range: { min: reason === 'TOO_MANY' ? 0 : 1, max }, message });

  if (description.length > limits.description) {
    const message = `The description must have at most ${limits.description} characters.`;
    add('description', 'TOO_LONG', limits.description, message);
  } else if (description.trim() === '') {
    const message = 'The description must not be empty; describe the topic and the points to cover.';
    add('description', 'REQUIRED', limits.description, message);
  }
  if (wordCount < 1 || wordCount > limits.wordCount) {
    const message = `The number of words is ${wordCount}; it must be from 1 to ${limits.wordCount}.`;
    add('wordCount', 'OUT_OF_RANGE', limits.wordCount, message);
  }
  if (titles.length > limits.titles)
    add('titles', 'TOO_MANY', limits.titles, `There must be at most ${limits.titles} titles.`);
  if (titles.some((title) => title.length > limits.title))
    add('titles', 'TOO_LONG', limits.title, `A title must have at most ${limits.title} characters.`);
  if (titles.some((title) => title.trim() === ''))
    add('titles', 'REQUIRED', limits.title, 'A title is empty; remove or replace it.');
  if (idempotencyKey === '') {
    const message = 'The idempotency key is empty; choose a unique one, such as a UUID.';
    add('idempotencyKey', 'REQUIRED', limits.idempotencyKey, message);
  } else if (idempotencyKey !== null && idempotencyKey.length > limits.idempotencyKey) {
    const message = `The idempotency key must have at most ${limits.idempotencyKey} characters.`;
    add('idempotencyKey', 'TOO_LONG', limits.idempotencyKey, message);
  }
  return problems.length === 0 ? null : toInvalidInput(problems);
}

function toInvalidInput(problems: readonly EssayFieldProblem[]): InvalidEssayInput {
  return { kind: 'invalid-input', message: problems.map(({ message }) => message).join(' '), problems };
}

/** The result if the idempotency key was already used with a different input. */
export const differentOrder = toInvalidInput([
  {
    field: 'idempotencyKey',
    reason: 'KEY_REUSED',
    range: null,
    message: 'The idempotency key was used for a different order; choose a new key for this order.',
  },
]);

export function tooManyOrders(max: number): EssayFailure {
  return unsentFailure(`${max} of your orders have not ended. Start another one when one of them has.`);
}

export function tooManyBytes(maxMegabytes: number): EssayFailure {
  return unsentFailure(
    `Your stored orders may have at most ${maxMegabytes} MB in total. Delete orders that have ended, or start this one when ` +
      'others have expired.',
  );
}

/** Without the store, it is unknown whether an order was paid for already. A retry may succeed, as after `shed`. */
export const unsafeOrder = unsentFailure(
  'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later.',
);
/** The store has not answered when an order was started. */
export const unconfirmedOrder = unsentFailure(
  'The store did not confirm the order, so it may be stored, and is then written. Send it again with the same idempotency ' +
    'key, or look for it by that key: it is paid for once.',
);
export const withdrawnFailure = unsentFailure(
  'The API key of the caller was withdrawn before the order was sent, so the essay service was not called.',
  { retryable: false },
);
export const unexpectedFailure = unknownFailure('The gateway failed unexpectedly. The order may have been paid for.');
export const unexpectedlyUnsent = unsentFailure('The gateway failed unexpectedly, before the order was sent.');

/** The process that sent it has crashed, has stalled, or could not store its outcome. */
export const unknownOutcome = unknownFailure(
  'An earlier attempt of this order was sent, and its outcome is unknown: it may have been paid for. Order the essay ' +
    'again only if it may be paid for twice.',
);

/** The failure of an order that this process did not send. */
function unsentFailure(message: string, { retryable = true } = {}): EssayServiceFailed {
  return { kind: 'service-failed', message, code: 'UPSTREAM_UNAVAILABLE', retryable, rawText: null };
}

/** The failure of an order that was sent, and may have been paid for. */
function unknownFailure(message: string): EssayServiceFailed {
  return { ...unsentFailure(message, { retryable: false }), code: 'UPSTREAM_FAILED', outcome: 'unknown' };
}

export const outcomes: Readonly<Record<EssayResult['kind'], EssayOutcome>> = {
  essay: 'generated',
  'invalid-input': 'rejected',
  'allowance-exhausted': 'exhausted',
  'service-failed': 'failed',
};
