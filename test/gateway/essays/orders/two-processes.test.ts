import { describe, expect, it, vi } from 'vitest';
import { tFailingStore } from '../../../support/failing-store.ts';
import {
  again,
  failed,
  order,
  tEssay,
  timedOut,
  truncated,
  unknownOutcome,
} from '../../../support/gateway/essays/generator.ts';
import {
  answerAll,
  dayMs,
  from,
  pass,
  tDelayed,
  tProcess,
  useFakeTime,
} from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

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

  it('do not return a failure from before the order', async () => {
    const { a, b } = tProcesses();
    await a.orderAndFail();
    const results = [a.generate(order, from()), b.generate(order, from())];
    await pass(5_000);
    const second = { ...failed, message: 'The second failure.' };
    a.calls[1]?.answer(second);
    await pass(1_000);
    expect(await Promise.all(results)).toEqual([second, second]);
    expect([a.calls.length, b.calls.length]).toEqual([2, 0]);
  });

  it('deliver the raw text of a caller who aborted to the one that waited, and to later ones', async () => {
    const { a, b } = tProcesses();
    await a.orderAndAbort(order);
    const waiting = await b.start(order, from(), 200);
    a.calls[0]?.answer(truncated);
    await pass(1_000);
    expect(await waiting.result).toEqual(truncated);
    for (const { generate } of [a, b]) expect(await generate(order, from())).toEqual(truncated);
    expect(b.calls).toHaveLength(0);
    await b.write(again);
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

  it('reject a different order that is to be sent when the other process has sent the order with its key', async () => {
    const { a, b } = tProcesses();
    for (const { queue } of [a, b]) queue();
    const first = await a.start();
    const second = await b.start(different, from(), 1_000);
    const onReturn = vi.fn();
    void second.result.then(onReturn);
    expect(onReturn).not.toHaveBeenCalled();
    a.leaveQueue();
    await pass(1_000);
    b.leaveQueue();
    await pass(0);
    expect(onReturn).toHaveBeenCalledWith(
      expect.objectContaining({ problems: [expect.objectContaining({ field: 'idempotencyKey' })] }),
    );
    expect(b.calls[0]?.context.usage.upstreamCalls).toBe(0);
    await answerAll(a, first.result);
  });

  it('write a different order when the order with the same key has failed', async () => {
    const { a, b } = tProcesses();
    await a.orderAndFail();
    await b.write(different, 'Five words.');
    expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
  });

  it('make one call when one orders just before the other has finished', async () => {
    const memory = createMemoryStore();
    const { store, proceed } = tDelayed(memory, 'replace');
    const late = tProcess(store);
    const second = await late.start();
    const essay = await tProcess(memory).write(order);
    proceed();
    expect(await second.result).toEqual(essay);
    expect(late.calls).toHaveLength(0);
  });

  it('report an order that a crashed process has sent, once its lock has expired, without a call', async () => {
    const { others, calls, endCrash } = await tCrashed();
    const onReturn = vi.fn();
    const waiting = others.map(({ generate }) => generate(order, from()).finally(onReturn));
    await pass(1_000);
    expect(onReturn).not.toHaveBeenCalled();
    await pass(2_000);
    expect(await Promise.all(waiting)).toEqual([unknownOutcome, unknownOutcome]);
    await endCrash();
    await pass(29 * dayMs);
    expect(await others[0]?.generate(order, from())).toEqual(unknownOutcome);
    expect(await others[1]?.generate(different, from())).toMatchObject({ problems: [{ field: 'idempotencyKey' }] });
    expect(calls()).toHaveLength(0);
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

  it('send an order again after it was sent twice, if the second attempt failed', async () => {
    const { others, endCrash } = await tCrashed();
    await pass(31_000);
    const second = await others[0]?.start(again, from(), 4_000);
    others[0]?.calls[0]?.answer(failed);
    expect(await second?.result).toEqual(failed);
    await others[1]?.write(order);
    await endCrash();
  });

  it('look about once a second while they wait', async () => {
    const { store, a, b } = tProcesses();
    const first = await a.start();
    const replaced = vi.spyOn(store, 'replace');
    const get = vi.spyOn(store, 'get').mockClear();
    const second = await b.start(order, from(), 20_000);
    const looks = get.mock.calls.filter(([key]) => key.startsWith('essay-record:')).length;
    expect(looks).toBeGreaterThan(15);
    // One of each process in a second.
    expect(looks).toBeLessThan(60);
    expect(replaced.mock.calls.filter(([key]) => key.startsWith('essay-record:'))).toEqual([]);
    await answerAll(a, first.result, second.result);
  });

  it('do not wait for each other when one of them shuts down', async () => {
    const { a, b } = tProcesses();
    const first = await a.start();
    const second = await b.start(order, from(), 1_000);
    await b.flush();
    await answerAll(a, first.result, second.result);
  });
});
