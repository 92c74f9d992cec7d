import { describe, expect, it, vi } from 'vitest';
import { again, failed, order, tEssay, timedOut } from '../../../support/gateway/essays/generator.ts';
import { answerAll, from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

const different = { ...order, wordCount: 5 };

/** Two processes with one store. */
function tProcesses() {
  const store = createMemoryStore();
  return { store, a: tProcess(store), b: tProcess(store) };
}

/** A process that crashed 15 seconds after it sent an order, and two others with its store. */
async function tCrashed() {
  const memory = createMemoryStore();
  const { store, fail } = tFailingStore(memory);
  const crashed = tProcess(store);
  const { result } = await crashed.start(order, from(), 15_000);
  fail();
  const others = [tProcess(memory), tProcess(memory)];
  return {
    others,
    calls: () => others.flatMap((other) => other.calls),
    /** The crash is only simulated. */
    async endCrash() {
      crashed.calls[0]?.answer(failed);
      await result;
      await crashed.close();
    },
  };
}

describe('two processes', () => {
  it('make one call for one key, even if it outlasts a lock', async () => {
    const { a, b } = tProcesses();
    const results = [a.generate(order, from()), b.generate(order, from())];
    await pass(100_000);
    await answerAll(a, ...results);
    expect([a.calls.length, b.calls.length]).toEqual([1, 0]);
  });

  it('both return the failure that one waited for, and pay again only for a later order', async () => {
    const { a, b } = tProcesses();
    const first = await a.start();
    const second = await b.start(order, from(), 5_000);
    const code = 'UPSTREAM_ALLOWANCE_EXHAUSTED';
    const exhausted = { kind: 'allowance-exhausted', message: 'Exhausted.', code, renewsAt: new Date() } as const;
    a.calls[0]?.answer(exhausted);
    await pass(1_000);
    expect(await Promise.all([first.result, second.result])).toEqual([exhausted, exhausted]);
    expect(b.calls).toHaveLength(0);
    await b.write(order);
    expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
  });

  it('make one more call if both accept a second payment, and return its result to one that does not', async () => {
    const { a, b } = tProcesses();
    await a.orderAndFail(timedOut);
    const results = [a.generate(again, from()), b.generate(again, from())];
    await pass(2_000);
    const waiting = b.generate(order, from());
    await pass(2_000);
    const second = { ...timedOut, message: 'The second failure.' };
    a.calls[1]?.answer(second);
    await pass(1_000);
    expect(await Promise.all([...results, waiting])).toEqual([second, second, second]);
    expect([a.calls.length, b.calls.length]).toEqual([2, 0]);
  });

  it('return the first failure to a client that has not accepted a second payment, until that is sent', async () => {
    const { a, b } = tProcesses();
    await a.orderAndFail(timedOut);
    a.queue();
    const second = await a.start(again);
    const waiting = await b.start(order, from(), 2_000);
    expect(await waiting.result).toEqual(timedOut);
    a.leaveQueue();
    await pass(0);
    const later = b.generate(order, from());
    const essay = tEssay();
    a.calls[1]?.answer(essay);
    await pass(1_000);
    expect(await Promise.all([second.result, later])).toEqual([essay, essay]);
    expect(b.calls).toHaveLength(0);
  });

  it('reject a different order at once, while the other process is writing the order with its key', async () => {
    const { a, b } = tProcesses();
    const first = await a.start();
    const rejected = { kind: 'invalid-input', problems: [{ field: 'idempotencyKey', reason: 'KEY_REUSED' }] };
    const onReturn = vi.fn();
    for (const orderAgain of [false, true]) void b.generate({ ...different, orderAgain }, from()).then(onReturn);
    await pass(10);
    expect(onReturn.mock.calls).toMatchObject([[rejected], [rejected]]);
    expect(b.outcomes).toEqual(['rejected', 'rejected']);
    await answerAll(a, first.result);
    expect(await b.generate(different, from())).toMatchObject(rejected);
    expect(b.calls).toHaveLength(0);
  });

  it('send the order of a crashed process again, once, if a second payment is accepted', async () => {
    const { others, calls, endCrash } = await tCrashed();
    const waiting = others.map(({ generate }) => generate(again, from()));
    await pass(1_000);
    expect(calls()).toHaveLength(0);
    await pass(2_000);
    const essay = await answerAll({ calls: calls() }, ...waiting);
    expect(await others[0]?.generate(order, from())).toEqual(essay);
    expect(await others[1]?.generate(again, from())).toEqual(essay);
    expect(calls()).toHaveLength(1);
    await endCrash();
  });
});
