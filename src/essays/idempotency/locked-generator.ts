import type { EssayServiceFailed, SendingEssayGenerator } from '../essays.ts';
import type { HeldLock } from './held-lock.ts';

/** Sends each attempt only while the lock is held: without it, another process may be sending the same order. */
export function withHeldLock(generator: SendingEssayGenerator, lock: HeldLock): SendingEssayGenerator {
  return {
    async generate(order, context, hooks) {
      let isLost = false;
      const maySend = async () => {
        isLost = !(await lock.confirm());
        return !isLost;
      };
      const onSent = () => {
        // The process may have stood still since the store confirmed the lock.
        isLost = !lock.isUnexpired();
        if (isLost) throw lockLost;
        lock.reacquireIfLost();
        hooks.onSent();
      };
      try {
        const result = await generator.generate(order, context, { maySend, onSent });
        return isLost ? unsafeOrder : result;
      } catch (error) {
        if (error === lockLost) return unsafeOrder;
        throw error;
      }
    },
  };
}

/** Without the store, it is unknown whether an order was paid for already. A retry may succeed, as after `shed`. */
export const unsafeOrder: EssayServiceFailed = {
  kind: 'service-failed',
  message:
    'The gateway cannot make sure at the moment that this order is paid for only once, so the essay service was not ' +
    'called. Try again later, or omit the idempotencyKey.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};

const lockLost = new Error('The lock of the order expired before it was sent.');
