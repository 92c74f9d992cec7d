import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { Loaders } from '../../../src/gateway/graphql/schema/loaders.ts';
import { createQueryLimiter, readQueryLimits } from '../../../src/gateway/graphql/schema/query-limits.ts';
import { createRequestContext, type RequestContext } from '../../../src/gateway/request-context.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';

describe('a batch of look-ups', () => {
  it('looks each IBAN up once, at most as many at a time as the service accepts calls', async () => {
    const { load, begun, mostInProgress } = tLoaders();
    const validations = await Promise.all([...load(), ...load()]);
    expect(validations.map(({ iban }) => iban)).toEqual([...ibans, ...ibans]);
    expect(begun).toEqual(ibans);
    expect(mostInProgress()).toBe(maxConcurrency);
  });

  it('has one time limit, which includes the wait of the later look-ups', async () => {
    const { load, contexts } = tLoaders();
    await Promise.all(load());
    const [first, ...others] = contexts.map(({ startedAt }) => startedAt);
    expect(first).toBeTypeOf('number');
    expect(new Set(others)).toEqual(new Set([first]));
  });

  it('begins no further look-ups when the client has disconnected', async () => {
    const { signal, load, begun } = tLoaders({ aborts: true });
    const settled = Promise.allSettled(load());
    await new Promise((resolve) => setImmediate(resolve));
    signal.abort(new Error('disconnected'));
    expect(await settled).toEqual(ibans.map(() => ({ status: 'rejected', reason: new Error('disconnected') })));
    expect(begun).toHaveLength(maxConcurrency);
  });
});

const maxConcurrency = 5;
const ibans = Array.from({ length: 40 }, (_, index) => `DE${index}`);

/** @param aborts whether each look-up lasts until the client disconnects */
function tLoaders({ aborts = false } = {}) {
  const { bankData, essayOrders, essayArchive } = tServices();
  const signal = new AbortableSignal();
  const context = createRequestContext(signal);
  const begun: string[] = [];
  const contexts: RequestContext[] = [];
  let inProgress = 0;
  let mostInProgress = 0;
  const validateIban: typeof bankData.validateIban = async (iban, context) => {
    context.signal.throwIfAborted();
    begun.push(iban);
    contexts.push(context);
    inProgress += 1;
    mostInProgress = Math.max(mostInProgress, inProgress);
    if (aborts)
      await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));
    const validation = await bankData.validateIban(iban, context);
    inProgress -= 1;
    return validation;
  };
  const limits = readQueryLimits({ maxIbansPerQuery: 1_000 });
  const loaders = new Loaders({
    bankData: { ...bankData, validateIban },
    essayOrders,
    essayArchive,
    limiter: createQueryLimiter(limits),
    context,
    maxConcurrency,
    slices: null,
  });
  return {
    signal,
    begun,
    contexts,
    mostInProgress: () => mostInProgress,
    load: () => ibans.map((iban) => loaders.validateIban(iban, true)),
  };
}
