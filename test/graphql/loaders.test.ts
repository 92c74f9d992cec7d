import { describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import { createBatchTurns, Loaders } from '../../src/graphql/schema/loaders.ts';
import { QueryBudget, readQueryLimits } from '../../src/graphql/schema/query-budget.ts';
import { createRequestContext, type RequestContext } from '../../src/request-context.ts';
import { tServices } from '../support/graphql/scripted-services.ts';

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

describe('large batches', () => {
  it('take turns, four at a time, while a small one begins at once', async () => {
    const batches = createBatchTurns(maxConcurrency);
    const large = Array.from({ length: 5 }, () => tLoaders({ aborts: true, batches }));
    const settled = large.map(({ load }) => Promise.allSettled(load()));
    const small = tLoaders({ batches });
    await small.load(1)[0];
    expect(large.map(({ begun }) => begun.length)).toEqual([5, 5, 5, 5, 0]);
    large[1]?.signal.abort(new Error('disconnected'));
    await settled[1];
    expect(large.map(({ begun }) => begun.length)).toEqual([5, 5, 5, 5, 5]);
    for (const { signal } of large) signal.abort(new Error('disconnected'));
    await Promise.all(settled);
  });

  it('wait no longer than 250 ms, and not for a client that has left', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const batches = createBatchTurns(maxConcurrency);
    const large = Array.from({ length: 6 }, () => tLoaders({ aborts: true, batches }));
    const settled = large.map(({ load }) => Promise.allSettled(load()));
    const reason = new Error('disconnected');
    await new Promise((resolve) => setImmediate(resolve));
    large[4]?.signal.abort(reason);
    expect(await settled[4]).toEqual(ibans.map(() => ({ status: 'rejected', reason })));
    await vi.advanceTimersByTimeAsync(249);
    expect(large.map(({ begun }) => begun.length)).toEqual([5, 5, 5, 5, 0, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(large.map(({ begun }) => begun.length)).toEqual([5, 5, 5, 5, 0, 5]);
    for (const { signal } of large) signal.abort(reason);
    await Promise.all(settled);
    // All turns are free again.
    const next = tLoaders({ batches });
    await Promise.all(next.load());
    expect(next.begun).toEqual(ibans);
  });
});

const maxConcurrency = 5;
const ibans = Array.from({ length: 40 }, (_, index) => `DE${index}`);

/** @param aborts whether each look-up lasts until the client disconnects */
function tLoaders({ aborts = false, batches = createBatchTurns(maxConcurrency) } = {}) {
  const { bankData } = tServices();
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
  const limits = readQueryLimits({ maxIbansPerQuery: 1_000, maxEssaysPerQuery: 1, maxEntitiesPerQuery: 1 });
  const loaders = new Loaders({
    bankData: { ...bankData, validateIban },
    budget: new QueryBudget(limits),
    context,
    batches,
  });
  return {
    signal,
    begun,
    contexts,
    mostInProgress: () => mostInProgress,
    load: (count = ibans.length) => ibans.slice(0, count).map((iban) => loaders.validateIban(iban, true)),
  };
}
