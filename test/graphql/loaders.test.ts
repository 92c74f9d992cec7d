import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import { Loaders } from '../../src/graphql/loaders.ts';
import { QueryBudget, readQueryLimits } from '../../src/graphql/schema/query-budget.ts';
import { createRequestContext } from '../../src/request-context.ts';
import { tServices } from '../support/graphql/scripted-services.ts';

describe('a batch of look-ups', () => {
  it('begins its calls in several turns of the event loop', async () => {
    const { load, begun } = tLoaders({ calls: 1 });
    const validations = load();
    const counts: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await nextTurn();
      counts.push(begun.length);
    }
    expect(counts).toEqual([5, 15, 35, 40]);
    expect((await Promise.all(validations)).map(({ iban }) => iban)).toEqual(ibans);
  });

  it('begins in one turn if it needs no calls', async () => {
    const { load, begun } = tLoaders({ calls: 0 });
    const validations = load();
    await nextTurn();
    expect(begun).toHaveLength(40);
    await Promise.all(validations);
  });

  it('has an error for each look-up that throws', async () => {
    const { load } = tLoaders({ calls: 1, failing: 'DE20' });
    const settled = await Promise.allSettled(load());
    expect(settled.map(({ status }) => status)).toEqual(
      ibans.map((iban) => (iban === 'DE20' ? 'rejected' : 'fulfilled')),
    );
  });

  it('begins no further calls when the client has disconnected', async () => {
    const { signal, load, begun } = tLoaders({ calls: 1 });
    const validations = load();
    const settled = Promise.allSettled(validations);
    await nextTurn();
    signal.abort(new Error('disconnected'));
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    await nextTurn();
    expect(begun).toHaveLength(5);
  });
});

const ibans = Array.from({ length: 40 }, (_, index) => `DE${index}`);

/** @param calls how many each look-up makes */
function tLoaders({ calls, failing }: { calls: number; failing?: string }) {
  const { bankData } = tServices();
  const signal = new AbortableSignal();
  const context = createRequestContext(signal, 'anonymous', null, null);
  const begun: string[] = [];
  const validateIban: typeof bankData.validateIban = (iban, { usage }) => {
    begun.push(iban);
    if (iban === failing) throw new Error('a fault');
    usage.upstreamCalls += calls;
    return bankData.validateIban(iban, context);
  };
  const limits = readQueryLimits({ maxIbansPerQuery: 1_000, maxEssaysPerQuery: 1, maxEntitiesPerQuery: 1 });
  const loaders = new Loaders({ ...bankData, validateIban }, new QueryBudget(limits), context);
  return { signal, begun, load: () => ibans.map((iban) => loaders.validateIban(iban)) };
}

/** Until what waits for the end of this turn of the event loop has run. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
