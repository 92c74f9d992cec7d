import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EssayOrder } from '../../../src/essays/essays.ts';
import { withIdempotency } from '../../../src/essays/idempotency/idempotency.ts';
import type { RequestContext } from '../../../src/request-context.ts';
import type { Store } from '../../../src/stores/store.ts';
import { tFailingStore } from '../../failing-store.ts';
import { tCaller } from '../../request-context.ts';
import { createMemoryStore } from '../../stores/memory-store.ts';
import { failed, order, tEssay, tWriter, unkeyed } from '../writer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  // A lock that is still extended would show here.
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const day = 86_400_000;

function caller(id = 'ann', signal?: AbortSignal): RequestContext {
  return { ...tCaller(signal), id };
}

/** One process: its own flights and its own essay service to count on, in front of the given store. */
function tProcess(store: Store = createMemoryStore()) {
  const writer = tWriter();
  const told: string[] = [];
  const essays = withIdempotency(writer.essays, {
    store,
    keepDays: 30,
    events: {
      essayWriteBuffered: (reason) => told.push(`not kept: ${reason}`),
      essayRejectedWithoutStore: () => told.push('refused'),
    },
  });
  return {
    ...essays,
    calls: writer.calls,
    waitsInLine: writer.waitsInLine,
    told,
    /** Has an order written from beginning to end. */
    async write(order: EssayOrder, text?: string) {
      const writing = essays.generate(order, caller());
      await pass(0);
      writer.calls.at(-1)?.answer(tEssay(text));
      return writing;
    },
  };
}

/** The store as a process sees it that gets its locks late. */
function tSlowLocks(store: Store) {
  let letGo = () => {};
  const told = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const slow: Store = { ...store, lock: (...args) => told.then(() => store.lock(...args)) };
  return { store: slow, letGo: () => letGo() };
}

describe('an order with a key', () => {
  it('is one call when 50 send it at once, and the first of them pays', async () => {
    const { generate, calls } = tProcess();
    const callers = Array.from({ length: 50 }, () => caller());
    const all = callers.map((caller) => generate(order, caller));
    await pass(0);
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await Promise.all(all)).toEqual(all.map(() => essay));
    expect(calls).toHaveLength(1);
    expect(callers.map(({ cost }) => cost.upstreamCalls)).toEqual([1, ...Array(49).fill(0)]);
  });

  it('is answered from the store afterwards, for 30 days, by every process', async () => {
    const store = createMemoryStore();
    const first = tProcess(store);
    const essay = await first.write(order);
    const later = tProcess(store);
    await pass(30 * day - 1_000);
    expect(await first.generate(order, caller())).toEqual(essay);
    expect(await later.generate(order, caller())).toEqual(essay);
    expect([first.calls.length, later.calls.length]).toEqual([1, 0]);
    await pass(1_000);
    await later.write(order);
    expect(later.calls).toHaveLength(1);
  });

  it('is the same order with other white space around it', async () => {
    const { write, generate, calls } = tProcess();
    const essay = await write(order);
    const same = { ...order, description: ` ${order.description}\n`, titles: [' Ink', 'Nib '] };
    expect(await generate(same, caller())).toEqual(essay);
    expect(calls).toHaveLength(1);
  });

  it.each<[string, Partial<EssayOrder>]>([
    ['description', { description: 'The pencil' }],
    ['mode', { mode: 'ACADEMIC' }],
    ['word count', { wordCount: 101 }],
    ['purpose', { purpose: 'NARRATIVE' }],
    ['titles', { titles: ['Ink, Nib'] }],
  ])('is refused when it has another %s than the one of that key, written or under way', async (_, other) => {
    const { generate, calls } = tProcess();
    const first = generate(order, caller());
    const refusal = { kind: 'invalid-input', field: 'idempotencyKey' };
    expect(await generate({ ...order, ...other }, caller())).toMatchObject(refusal);
    await pass(0);
    calls[0]?.answer(tEssay());
    await first;
    expect(await generate({ ...order, ...other }, caller())).toMatchObject(refusal);
    expect(calls).toHaveLength(1);
  });

  it('is another one when another caller sends it', async () => {
    const { write, generate, calls } = tProcess();
    const essay = await write(order);
    const other = generate(order, caller('bob'));
    await pass(0);
    calls[1]?.answer(tEssay('Bob’s'));
    expect(await other).toMatchObject({ text: 'Bob’s' });
    expect(await generate(order, caller())).toEqual(essay);
    expect(calls).toHaveLength(2);
  });

  it('is tried again when it failed and is sent again', async () => {
    const { generate, write, calls } = tProcess();
    const first = [generate(order, caller()), generate(order, caller())];
    await pass(0);
    calls[0]?.answer(failed);
    expect(await Promise.all(first)).toEqual([failed, failed]);
    expect(await write(order)).toMatchObject({ kind: 'essay' });
    expect(calls).toHaveLength(2);
  });

  it('is free again when writing it broke with a fault of ours', async () => {
    const { generate, write, calls } = tProcess();
    const broken = generate(order, caller());
    await pass(0);
    const hasFailed = expect(broken).rejects.toThrow('a fault');
    calls[0]?.break(new Error('a fault'));
    await hasFailed;
    expect(await write(order)).toMatchObject({ kind: 'essay' });
  });
});

describe('two processes', () => {
  it('make one call of one key, though it takes longer than a lock lasts', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    const second = b.generate(order, caller());
    await pass(100_000);
    const essay = tEssay();
    a.calls[0]?.answer(essay);
    expect(await first).toEqual(essay);
    await pass(1_000);
    expect(await second).toEqual(essay);
    expect([a.calls.length, b.calls.length]).toEqual([1, 0]);
  });

  it('tell those who wait how it failed, and pay again only for those who order afresh', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    await pass(0);
    const second = b.generate(order, caller());
    await pass(5_000);
    const exhausted = { kind: 'allowance-exhausted', message: 'Used up.', renewsAt: new Date() } as const;
    a.calls[0]?.answer(exhausted);
    await first;
    await pass(1_000);
    expect(await second).toEqual(exhausted);
    expect(b.calls).toHaveLength(0);
    expect(await b.write(order)).toMatchObject({ kind: 'essay' });
  });

  it('refuse another order under a key that the other one was writing', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    await pass(0);
    const second = b.generate({ ...order, wordCount: 5 }, caller());
    a.calls[0]?.answer(tEssay());
    await first;
    await pass(1_000);
    expect(await second).toMatchObject({ kind: 'invalid-input', field: 'idempotencyKey' });
    expect(b.calls).toHaveLength(0);
  });

  it('write each its own order when the one of the same key failed', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    await pass(0);
    const other = b.generate({ ...order, wordCount: 5 }, caller());
    await pass(0);
    a.calls[0]?.answer(failed);
    await first;
    await pass(1_000);
    b.calls[0]?.answer(tEssay('Five words.'));
    expect(await other).toMatchObject({ text: 'Five words.' });
  });

  it('make one call when one gets the lock just after the other has finished', async () => {
    const memory = createMemoryStore();
    const { store, letGo } = tSlowLocks(memory);
    const late = tProcess(store);
    const second = late.generate(order, caller());
    await pass(0);
    const essay = await tProcess(memory).write(order);
    letGo();
    expect(await second).toEqual(essay);
    expect(late.calls).toHaveLength(0);
  });

  it('take over from one that crashed, once its lock has expired: one of them, once', async () => {
    const store = createMemoryStore();
    const mortal = tFailingStore(store);
    const crashed = tProcess(mortal.store);
    const lost = crashed.generate(order, caller());
    await pass(15_000);
    mortal.fail();
    const [b, c] = [tProcess(store), tProcess(store)];
    const waiting = [b, c].map(({ generate }) => generate(order, caller()));
    await pass(24_000);
    expect([...b.calls, ...c.calls]).toHaveLength(0);
    await pass(7_000);
    expect([...b.calls, ...c.calls]).toHaveLength(1);
    const essay = tEssay();
    [...b.calls, ...c.calls][0]?.answer(essay);
    await pass(1_000);
    expect(await Promise.all(waiting)).toEqual([essay, essay]);
    expect([...b.calls, ...c.calls]).toHaveLength(1);
    // The crashed one, as it is only played, has to end.
    crashed.calls[0]?.answer(failed);
    await lost;
  });

  it('ask the store about once a second while they wait, not all the time', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    await pass(0);
    const lock = vi.spyOn(store, 'lock');
    const second = b.generate(order, caller());
    await pass(20_000);
    expect(lock.mock.calls.length).toBeGreaterThan(15);
    expect(lock.mock.calls.length).toBeLessThan(30);
    a.calls[0]?.answer(tEssay());
    await first;
    await pass(1_000);
    await second;
  });
});

describe('a caller who leaves', () => {
  it('is let go at once, and the essay that is being paid for is written to its end and kept', async () => {
    const { generate, calls, settled } = tProcess();
    const leaver = new AbortController();
    const left = generate(order, caller('ann', leaver.signal));
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    expect(calls[0]?.caller.signal.aborted).toBe(false);
    const again = generate(order, caller());
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await again).toEqual(essay);
    await settled();
    expect(await generate(order, caller())).toEqual(essay);
    expect(calls).toHaveLength(1);
  });

  it('takes the order along when it was not sent yet', async () => {
    const { generate, write, calls, waitsInLine } = tProcess();
    waitsInLine();
    const leaver = new AbortController();
    const left = generate(order, caller('ann', leaver.signal));
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    expect(calls[0]?.caller.signal.aborted).toBe(true);
    const again = generate(order, caller());
    await pass(200);
    calls[1]?.answer(tEssay());
    expect(await again).toMatchObject({ kind: 'essay' });
    expect(await write(order)).toMatchObject({ kind: 'essay' });
    expect(calls).toHaveLength(2);
  });

  it('stops waiting for another process, and leaves no lock behind', async () => {
    const store = createMemoryStore();
    const [a, b] = [tProcess(store), tProcess(store)];
    const first = a.generate(order, caller());
    await pass(0);
    const leaver = new AbortController();
    const left = b.generate(order, caller('ann', leaver.signal));
    await pass(3_300);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    await b.settled();
    a.calls[0]?.answer(tEssay());
    await first;
    expect(b.calls).toHaveLength(0);
  });

  it('while the lock comes leaves it to the next', async () => {
    const memory = createMemoryStore();
    const { store, letGo } = tSlowLocks(memory);
    const late = tProcess(store);
    const leaver = new AbortController();
    const left = late.generate(order, caller('ann', leaver.signal));
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    letGo();
    await late.settled();
    expect(late.calls).toHaveLength(0);
    expect(await tProcess(memory).write(order)).toMatchObject({ kind: 'essay' });
  });

  it('takes nothing from the others who wait for the same order', async () => {
    const { generate, calls, waitsInLine } = tProcess();
    waitsInLine();
    const leaver = new AbortController();
    const left = generate(order, caller('ann', leaver.signal));
    const stays = generate(order, caller());
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await stays).toEqual(essay);
  });

  it('has gone before anything began: nothing begins', async () => {
    const { generate, calls } = tProcess();
    await expect(generate(order, caller('ann', AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
    await pass(0);
    expect(calls).toHaveLength(0);
  });

  it('finds what was paid for and could not be read, once, by sending the order again', async () => {
    const { generate, calls, write, settled } = tProcess();
    const leaver = new AbortController();
    const left = generate(order, caller('ann', leaver.signal));
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    const truncated = { ...failed, rawText: '{"essay":"Pens hold' };
    calls[0]?.answer(truncated);
    await settled();
    await pass(29 * day);
    expect(await generate(order, caller())).toEqual(truncated);
    expect(calls).toHaveLength(1);
    expect(await write(order)).toMatchObject({ kind: 'essay' });
  });

  it('is awaited by whoever ends the process', async () => {
    const { generate, calls, settled } = tProcess();
    const leaver = new AbortController();
    const left = generate(unkeyed, caller('ann', leaver.signal));
    await pass(0);
    const isLetGo = expect(left).rejects.toMatchObject({ name: 'AbortError' });
    leaver.abort();
    await isLetGo;
    let isSettled = false;
    const end = settled().then(() => {
      isSettled = true;
    });
    await pass(60_000);
    expect(isSettled).toBe(false);
    calls[0]?.answer(tEssay());
    await end;
  });
});

it('an order that waits for another process does not keep this one from ending', async () => {
  const store = createMemoryStore();
  const [a, b] = [tProcess(store), tProcess(store)];
  const first = a.generate(order, caller());
  await pass(0);
  const second = b.generate(order, caller());
  await pass(1_000);
  await b.settled();
  a.calls[0]?.answer(tEssay());
  await first;
  await pass(1_000);
  await second;
});

describe('an essay', () => {
  it.each([
    ['with', order],
    ['without', unkeyed],
  ])('%s a key is found by its id, by its caller alone, for as long as it is kept', async (_, order) => {
    const store = createMemoryStore();
    const essay = await tProcess(store).write(order);
    const { find } = tProcess(store);
    const id = 'id' in essay ? essay.id : '';
    expect(await find(id, caller())).toEqual(essay);
    expect(await find(id, caller('bob'))).toBeNull();
    expect(await find('another', caller())).toBeNull();
    await pass(30 * day);
    expect(await find(id, caller())).toBeNull();
  });

  it('without a key is written anew each time', async () => {
    const { write, calls } = tProcess();
    await write(unkeyed, 'one');
    expect(await write(unkeyed, 'other')).toMatchObject({ text: 'other' });
    expect(calls).toHaveLength(2);
  });

  it('is answered only once it is stored', async () => {
    const store = createMemoryStore();
    let letGo = () => {};
    const stored = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { set } = store;
    const { write } = tProcess({ ...store, set: (...args) => stored.then(() => set(...args)) });
    let isAnswered = false;
    const answer = write(order).then(() => {
      isAnswered = true;
    });
    await pass(1_000);
    expect(isAnswered).toBe(false);
    letGo();
    await answer;
  });
});

describe('while the store fails', () => {
  it('an order with a key is refused and not paid for, as one that may be sent again', async () => {
    const failing = tFailingStore(createMemoryStore());
    const { generate, write, calls, told } = tProcess(failing.store);
    failing.fail();
    const refusal = { kind: 'service-failed', code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
    expect(await generate(order, caller())).toMatchObject(refusal);
    expect(calls).toHaveLength(0);
    expect(told).toEqual(['refused']);
    failing.work();
    expect(await write(order)).toMatchObject({ kind: 'essay' });
  });

  it('an order without a key is written, answered, and stored when the store works again', async () => {
    const memory = createMemoryStore();
    const failing = tFailingStore(memory);
    const { write, find, told } = tProcess(failing.store);
    failing.fail();
    const essay = await write(unkeyed);
    const id = 'id' in essay ? essay.id : '';
    expect(told).toEqual(['not kept: not connected']);
    expect(await find(id, caller())).toEqual(essay);
    await pass(5_000);
    failing.work();
    await pass(5_000);
    expect(await tProcess(memory).find(id, caller())).toEqual(essay);
  });

  it('what was written under a key meanwhile is not written twice', async () => {
    const memory = createMemoryStore();
    const failing = tFailingStore(memory);
    const { generate, calls, told, settled } = tProcess(failing.store);
    const first = generate(order, caller());
    await pass(0);
    failing.fail();
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await first).toEqual(essay);
    expect(await generate(order, caller())).toEqual(essay);
    expect(told).toEqual(['not kept: not connected']);
    failing.work();
    await settled();
    expect(await tProcess(memory).generate(order, caller())).toEqual(essay);
    expect(calls).toHaveLength(1);
  });

  it('a look-up by id fails rather than to say that there is none', async () => {
    const failing = tFailingStore(createMemoryStore());
    const { find } = tProcess(failing.store);
    failing.fail();
    await expect(find('any', caller())).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR', retryable: true });
  });
});
