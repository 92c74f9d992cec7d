import type { EssayServiceFailed, InvalidEssayInput } from '../essays.ts';

/** One name, two orders: which one is meant cannot be told. */
export function otherOrder(): InvalidEssayInput {
  const message = 'idempotencyKey names an order that was different; give this one another key.';
  return { kind: 'invalid-input', field: 'idempotencyKey', message };
}

/**
 * A key promises that its order is paid for once; without the store nobody can tell whether it was already. As when the
 * service is not asked because it keeps failing, nothing was paid, and later the same order may succeed.
 */
export function cannotPromise(): EssayServiceFailed {
  return {
    kind: 'service-failed',
    message:
      'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
      'asked. Send it again later, or without an idempotencyKey.',
    code: 'UPSTREAM_UNAVAILABLE',
    retryable: true,
    rawText: null,
  };
}
