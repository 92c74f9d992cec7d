import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import type { RequestContext } from '../../src/request-context.ts';
import { createBulkhead } from '../../src/upstream/bulkhead.ts';
import { shed } from '../../src/upstream/operation.ts';
import { tRequestContext } from '../support/request-context.ts';
import { answered, get, post, type TSend, tAttempt, tDeadline, tHeldSend, tSend } from '../support/upstream/send.ts';

const at = (path: string) => ({ ...get, path });

it('starts calls up to its capacity, queues further ones, and sheds those beyond the queue at once', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 2, maxQueue: 1 });
  const sent = ['/1', '/2', '/3'].map((path) => limited(at(path), tDeadline()));
  expect(await limited(at('/4'), tDeadline())).toEqual(shed);
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2']);
  held[0]?.returns(answered(200));
  expect(await sent[0]).toEqual(answered(200));
  await vi.waitFor(() => expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']), { timeout: 20_000 });
  for (const { returns } of held) returns(answered(200));
  expect(await Promise.all(sent)).toHaveLength(3);
});

it('releases a caller who aborts in the queue at once, and continues with the next', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
  const caller = new AbortController();
  const first = limited(at('/1'), tDeadline());
  const aborted = [limited(at('/2'), tDeadline(caller.signal)), limited(at('/3'), tDeadline(caller.signal))];
  const last = limited(at('/4'), tDeadline());
  caller.abort();
  for (const outcome of await Promise.allSettled(aborted)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  held[0]?.returns(answered(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 20_000 });
  expect(held.map(({ path }) => path)).toEqual(['/1', '/4']);
  held[1]?.returns(answered(200));
  expect(await last).toEqual(answered(200));
});

it('starts no call for a caller who leaves together with the one whose slot it would get', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
  const callers = [new AbortController(), new AbortController()];
  const left = callers.map(({ signal }, index) => limited(at(`/${index}`), tDeadline(signal)));
  const last = limited(at('/last'), tDeadline());
  for (const [index, caller] of callers.entries()) {
    caller.abort();
    await expect(left[index]).rejects.toMatchObject({ name: 'AbortError' });
  }
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 20_000 });
  expect(held.map(({ path }) => path)).toEqual(['/0', '/last']);
  held[1]?.returns(answered(200));
  expect(await last).toEqual(answered(200));
});

it('passes a slot on from those who do not use it, and reports each', () => {
  let left = 0;
  const bulkhead = createBulkhead({ maxConcurrency: 1, maxQueue: 100_000, onLeft: () => (left += 1) });
  // A native signal would compare each of its listeners with all others.
  const signal = new AbortableSignal();
  let declined = 0;
  const turns: boolean[] = [];
  bulkhead.enter();
  for (let count = 0; count < 50_000; count += 1) {
    bulkhead.wait({}, signal, () => {
      declined += 1;
      return false;
    });
  }
  bulkhead.wait({}, signal, (hasSlot) => {
    turns.push(hasSlot);
    return true;
  });
  bulkhead.leave();
  expect({ declined, turns, left }).toEqual({ declined: 50_000, turns: [true], left: 50_001 });
  expect(bulkhead.status()).toMatchObject({ active: 1, queued: 0 });
});

it('serves requests in turn: a single call is not behind two lists of 1,000', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 2_000 });
  const [first, second, single] = [tRequestContext(), tRequestContext(), tRequestContext()];
  const running = limited(at('/running'), tDeadline());
  const start = (context: RequestContext, path: string) => limited(at(path), tDeadline(), context);
  const sent = Array.from({ length: 1_000 }, (_, index) => start(first, `/first/${index}`));
  sent.push(...Array.from({ length: 1_000 }, (_, index) => start(second, `/second/${index}`)));
  sent.push(start(single, '/single'));
  // The queue was full: the list that is longest loses its last call.
  expect(await sent[999]).toEqual(shed);
  const returnsLast = () => held.at(-1)?.returns(answered(200));
  returnsLast();
  await running;
  for (let started = 2; started <= 6; started += 1) {
    await vi.waitFor(() => expect(held).toHaveLength(started), { timeout: 20_000 });
    returnsLast();
  }
  expect(held.slice(1, 6).map(({ path }) => path)).toEqual([
    '/first/0',
    '/second/0',
    '/single',
    '/first/1',
    '/second/1',
  ]);
  expect(await sent.at(-1)).toEqual(answered(200));
});

it('passes a slot on without a gap: a call that arrives meanwhile does not take it', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 1 });
  const first = limited(at('/1'), tDeadline());
  const second = limited(at('/2'), tDeadline());
  const third = first.then(() => limited(at('/3'), tDeadline()));
  held[0]?.returns(answered(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 20_000 });
  held[1]?.returns(answered(200));
  expect(await second).toEqual(answered(200));
  await vi.waitFor(() => expect(held).toHaveLength(3), { timeout: 20_000 });
  held[2]?.returns(answered(200));
  expect(await third).toEqual(answered(200));
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
});

it('frees the place of a call that was aborted in the queue at once', async () => {
  const { send, held } = tHeldSend();
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 1 });
  const first = limited(at('/1'), tDeadline());
  const caller = new AbortController();
  const aborted = limited(at('/2'), tDeadline(caller.signal));
  caller.abort();
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  const third = limited(at('/3'), tDeadline());
  held[0]?.returns(answered(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 20_000 });
  held[1]?.returns(answered(200));
  expect(await third).toEqual(answered(200));
});

it('passes on the slot of a call whose outcome cannot be recorded', async () => {
  const recordAnswer = () => {
    throw new Error('a bug');
  };
  const allowance = { reserve: () => ({ kind: 'reserved' as const, release() {}, recordAnswer }) };
  const { send, sent } = tSend(answered(200));
  const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 1, allowance });
  for (let call = 0; call < 3; call += 1) await expect(limited(get, tDeadline())).rejects.toThrow('a bug');
  expect(sent).toHaveLength(3);
});

it('passes on the slot of a call that throws', async () => {
  const failing: TSend = () => {
    throw new Error('a bug');
  };
  const limited = tAttempt(failing, { maxConcurrency: 1, maxQueue: 1 });
  for (let call = 0; call < 3; call += 1) await expect(limited(get, tDeadline())).rejects.toThrow('a bug');
});

describe('the wait in the queue', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  it.each([
    ['is part of the deadline of a read', get, 6_000],
    ['does not shorten a write, which may be charged', post, 10_000],
  ])('%s', async (_, request, leftMs) => {
    const { send, held } = tHeldSend();
    const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
    const first = limited(get, tDeadline());
    const second = limited(request, tDeadline());
    await vi.advanceTimersByTimeAsync(4_000);
    held[0]?.returns(answered(200));
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(held[1]?.leftMs).toBe(leftMs);
    held[1]?.returns(answered(200));
    expect(await second).toEqual(answered(200));
  });

  it('ends at the deadline: the operation is shed, never sent later, and the next one starts', async () => {
    const { send, held } = tHeldSend();
    const limited = tAttempt(send, { maxConcurrency: 1, maxQueue: 10 });
    const first = limited(at('/1'), tDeadline());
    const second = limited({ ...post, path: '/2' }, tDeadline(undefined, 3_000));
    const third = limited(at('/3'), tDeadline());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await second).toEqual(shed);
    held[0]?.returns(answered(200));
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(held.map(({ path }) => path)).toEqual(['/1', '/3']);
    held[1]?.returns(answered(200));
    expect(await third).toEqual(answered(200));
  });
});
