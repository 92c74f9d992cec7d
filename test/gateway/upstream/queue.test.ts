import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { shed } from '../../../src/gateway/upstream/outcome.ts';
import { CallQueue, type QueuedCall, takePlace } from '../../../src/gateway/upstream/queue.ts';
import { answered, get, post, tAttempt, tHeldSend } from '../../support/gateway/upstream/send.ts';

const at = (path: string) => ({ ...get, path });

it('starts calls up to its capacity, queues further ones, and sheds those beyond the queue at once', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 2, maxQueue: 1 });
  const sent = ['/1', '/2', '/3'].map((path) => limited(at(path)));
  expect(await limited(at('/4'))).toEqual(shed);
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2']);
  held[0]?.returns(answered(200));
  expect(await sent[0]).toEqual(answered(200));
  await vi.waitFor(() => expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']), { timeout: 100_000 });
  for (const { returns } of held) returns(answered(200));
  expect(await Promise.all(sent)).toHaveLength(3);
});

it('releases a caller who aborts in the queue at once, and continues with the next', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
  const caller = new AbortController();
  const first = limited(at('/1'));
  const aborted = [limited(at('/2'), caller.signal), limited(at('/3'), caller.signal)];
  const last = limited(at('/4'));
  caller.abort();
  for (const outcome of await Promise.allSettled(aborted)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  held[0]?.returns(answered(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 100_000 });
  expect(held.map(({ path }) => path)).toEqual(['/1', '/4']);
  held[1]?.returns(answered(200));
  expect(await last).toEqual(answered(200));
});

it('starts no call for a caller who leaves together with the one whose slot it would get', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
  const callers = [new AbortController(), new AbortController()];
  const left = callers.map(({ signal }, index) => limited(at(`/${index}`), signal));
  const last = limited(at('/last'));
  for (const [index, caller] of callers.entries()) {
    caller.abort();
    await expect(left[index]).rejects.toMatchObject({ name: 'AbortError' });
  }
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 100_000 });
  expect(held.map(({ path }) => path)).toEqual(['/0', '/last']);
  held[1]?.returns(answered(200));
  expect(await last).toEqual(answered(200));
});

it('takes 50,000 waiting requests in turn within the time that their calls take', async () => {
  const queue = new CallQueue({ maxConcurrency: 1, maxQueue: 100_000 });
  let turns = 0;
  const begin = () => {
    turns += 1;
    if (turns > 1) queue.leave();
  };
  for (let call = 0; call <= 50_000; call += 1) queue.enter(tQueued(Symbol(), '', begin));
  queue.leave();
  expect(turns).toBe(50_001);
  expect(queue.status()).toEqual({ active: 0, queued: 0 });
});

it('serves and evicts like a list of lists', () => {
  const step = fc.record({ kind: fc.constantFrom('enter', 'enter', 'enter', 'abort', 'leave'), which: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), fc.nat(12), (steps, maxQueue) => {
      const keys = ['a', 'b', 'c', 'd', 'e'].map((name) => Symbol(name));
      const queue = new CallQueue({ maxConcurrency: 1, maxQueue });
      queue.enter(tQueued(Symbol()));
      const results: (boolean | null)[] = [];
      const calls: QueuedCall[] = [];
      const expected: (boolean | null)[] = [];
      /** Attempts by request, in the order of their turns. */
      let model: { key: symbol; attempts: number[] }[] = [];
      for (const { kind, which } of steps) {
        const key = keys[which] as symbol;
        const queued = model.flatMap(({ attempts }) => attempts);
        if (kind === 'enter') {
          const attempt = results.push(null) - 1;
          const record = (isServed: boolean) => {
            results[attempt] = isServed;
          };
          const call = tQueued(
            key,
            '',
            () => record(true),
            () => record(false),
          );
          calls.push(call);
          if (!queue.enter(call)) record(false);
          const own = model.find((each) => each.key === key);
          const longest = model.toReversed().toSorted((one, other) => other.attempts.length - one.attempts.length)[0];
          const isFull = queued.length >= maxQueue;
          const loses = isFull && longest && longest.attempts.length > (own?.attempts.length ?? 0) + 1;
          expected[attempt] = isFull && !loses ? false : null;
          if (loses) expected[longest.attempts.pop() ?? -1] = false;
          if (expected[attempt] === null && own) own.attempts.push(attempt);
          else if (expected[attempt] === null) model.push({ key, attempts: [attempt] });
        } else if (kind === 'abort' && queued.length > 0) {
          const aborted = queued[which % queued.length] as number;
          queue.remove(calls[aborted] as QueuedCall);
          results[aborted] = false;
          expected[aborted] = false;
          for (const each of model) each.attempts = each.attempts.filter((attempt) => attempt !== aborted);
        } else if (kind === 'leave' && queued.length > 0) {
          queue.leave();
          const [turn, ...others] = model;
          expected[turn?.attempts.shift() ?? -1] = true;
          model = turn ? [...others, turn] : [];
        }
        model = model.filter(({ attempts }) => attempts.length > 0);
        expect(results).toEqual(expected);
        expect(queue.status()).toEqual({ active: 1, queued: model.flatMap(({ attempts }) => attempts).length });
      }
    }),
  );
});

describe('a queue with the attempts of several callers', () => {
  /** Enters attempts of requests, such as `a1`, the first request of the caller a. @returns those that got a slot, or lost their place */
  function tQueue(names: readonly string[], maxQueue: number) {
    const queue = new CallQueue({ maxConcurrency: 1, maxQueue });
    const [served, shedNames]: [string[], string[]] = [[], []];
    const keys = new Map<string, symbol>();
    queue.enter(tQueued(Symbol()));
    for (const name of names) {
      const key = keys.get(name) ?? Symbol(name);
      keys.set(name, key);
      const call = tQueued(
        key,
        name.slice(0, 1),
        () => served.push(name),
        () => shedNames.push(name),
      );
      if (!queue.enter(call)) shedNames.push(name);
    }
    while (queue.status().queued > 0) queue.leave();
    return { served, shed: shedNames };
  }

  it('serves the callers in turn, however many requests each has', () => {
    const { served } = tQueue(['a1', 'a2', 'a3', 'a1', 'b1', 'b1', 'c1'], 10);
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b1', 'a3', 'a1']);
  });

  it('has the caller with most attempts lose one if it is full, of its request with most', () => {
    const { served, shed } = tQueue(['a1', 'a2', 'a2', 'a3', 'b1', 'b2'], 4);
    expect(shed).toEqual(['a2', 'a3']);
    expect(served).toEqual(['a1', 'b1', 'a2', 'b2']);
  });
});

it('passes a slot on without a gap: a call that arrives meanwhile does not take it', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 1 });
  const first = limited(at('/1'));
  const second = limited(at('/2'));
  const third = first.then(() => limited(at('/3')));
  held[0]?.returns(answered(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 100_000 });
  held[1]?.returns(answered(200));
  expect(await second).toEqual(answered(200));
  await vi.waitFor(() => expect(held).toHaveLength(3), { timeout: 100_000 });
  held[2]?.returns(answered(200));
  expect(await third).toEqual(answered(200));
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
});

describe('the wait in the queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  it.each([
    ['is part of the deadline of a read', get, 6_000],
    ['does not shorten an order, which may be charged', post, 10_000],
  ])('%s', async (_, endpoint, leftMs) => {
    const { send, held } = tHeldSend();
    const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
    const first = limited(get);
    const settled = vi.fn();
    const second = limited(endpoint).finally(settled);
    await vi.advanceTimersByTimeAsync(4_000);
    held[0]?.returns(answered(200));
    await first;
    await vi.advanceTimersByTimeAsync(leftMs - 1);
    expect(held).toHaveLength(2);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await second).toMatchObject({ kind: 'failed', reason: 'timed-out' });
  });

  it('ends at the deadline: the call is shed, never sent later, and the next one starts', async () => {
    const { send, held } = tHeldSend();
    const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
    const late = limited(at('/late'));
    await vi.advanceTimersByTimeAsync(0);
    const second = limited({ ...post, path: '/2' });
    await vi.advanceTimersByTimeAsync(5_000);
    const third = limited(at('/3'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await late).toMatchObject({ reason: 'timed-out' });
    expect(await second).toEqual(shed);
    await vi.advanceTimersByTimeAsync(0);
    expect(held.map(({ path }) => path)).toEqual(['/late', '/3']);
    held[1]?.returns(answered(200));
    expect(await third).toEqual(answered(200));
  });

  it('of other work ends when there is a place, in time, or when its client leaves', async () => {
    const queue = new CallQueue({ maxConcurrency: 1, maxQueue: 10 });
    const client = new AbortController();
    const signal = new AbortableSignal();
    expect(await takePlace(queue, signal, 1_000)).toBe(true);
    const late = takePlace(queue, signal, 1_000);
    const left = takePlace(queue, client.signal, 5_000);
    const next = takePlace(queue, signal, 5_000);
    client.abort();
    expect(await left).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBe(false);
    queue.leave();
    expect(await next).toBe(true);
    expect(queue.status()).toEqual({ active: 1, queued: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A call with a place in the queue. */
function tQueued(requestKey: symbol, callerId = '', begin: () => void = () => {}, evict: () => void = () => {}) {
  return { callerId, requestKey, begin, evict };
}
