import type { BankDataPort } from '../../bank-data/bank-data.ts';
import type { EssayFailure, Essays, OrderInput } from '../../essays/port.ts';
import type { Quote } from '../../request-context.ts';

/** The services that make paid calls. */
export interface PaidServices {
  bankData: BankDataPort;
  /** The same look-ups, of which none makes a call. @param count receives the calls that they would make */
  quoteBankData: (count: (calls: number) => void) => BankDataPort;
  essays: Essays;
}

/** The services of a request that is quoted: what is known is answered, the calls for the rest are counted, and nothing is changed. */
export function quoteServices<All extends PaidServices>(services: All, quote: Quote, callerId: string): All {
  const { essays } = services;
  /** Whether the mutation cancels or deletes an order, whose key can then be sent again. */
  let isChanged = false;

  /** An order that was sent, or will be, is not sent again. */
  async function countOrder({ idempotencyKey, orderAgain }: OrderInput): Promise<EssayFailure> {
    const isNew = idempotencyKey === null || orderAgain || isChanged;
    const known = isNew ? null : await essays.findByKey(idempotencyKey, callerId).catch(() => null);
    if (known === null || known.state.kind === 'failed' || known.state.kind === 'cancelled') quote.essays += 1;
    return notOrdered;
  }
  const quoted: Essays = {
    generate: countOrder,
    start: countOrder,
    async cancel() {
      isChanged = true;
      return null;
    },
    async delete() {
      isChanged = true;
      return { result: 'unknown', bytes: 0 };
    },
    findEssay: (...values) => essays.findEssay(...values),
    find: (...values) => essays.find(...values),
    findByKey: (...values) => essays.findByKey(...values),
    watch: (...values) => essays.watch(...values),
    lastEntry: (...values) => essays.lastEntry(...values),
    findListed: (...values) => essays.findListed(...values),
  };
  const bankData = services.quoteBankData((calls) => {
    quote.bankData += calls;
  });
  return { ...services, bankData, essays: quoted };
}

const notOrdered: EssayFailure = {
  kind: 'service-failed',
  message: 'A quote orders nothing.',
  code: 'UPSTREAM_UNAVAILABLE',
  retryable: true,
  rawText: null,
};
