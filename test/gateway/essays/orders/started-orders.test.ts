import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../../src/base/async/signal.ts';
import { toRecordKey } from '../../../../src/gateway/essays/orders/order.ts';
import type { EssayOrder, EssayResult } from '../../../../src/gateway/essays/port.ts';
import { type Store, StoreError } from '../../../../src/gateway/stores/store.ts';
import { failed, order, tEssay, timedOut, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann, from, listOrders, pass, tDelayed, tOrders, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

const notSent = { ...failed, code: 'UPSTREAM_UNAVAILABLE' } as EssayResult;

describe('an order that is started', () => {
  it('is sent without its client, and shows its essay', async () => {
    const { start, stateOf, calls, orders, essays } = tOrders();
    const ordered = await start('a');
    expect(ordered).toMatchObject({
      state: { kind: 'queued', position: 0 },
      input: { description: order.description },
    });
    expect(ordered.input).not.toHaveProperty('idempotencyKey');
    expect(await stateOf(ordered)).toEqual({ kind: 'writing', textSoFar: '' });
    const essay = tEssay();
    calls[0]?.answer(essay);
    await pass(0);
    expect(await stateOf(ordered)).toEqual({ kind: 'finished', essayId: essay.id });
    expect(await essays.find(essay.id, from())).toEqual(essay);
    await orders.stop();
  });

  it('belongs to its caller', async () => {
    const { start, orders, calls } = tOrders();
    const ordered = await start('a');
    expect(await orders.find(ordered.id, 'bob')).toBeNull();
    expect(await orders.findByKey('a', 'bob')).toBeNull();
    expect(await orders.cancel(ordered.id, 'bob')).toBeNull();
    expect(await orders.delete(ordered.id, 'bob')).toMatchObject({ result: 'unknown' });
    expect(await listOrders(orders, {}, 'bob')).toEqual({ entries: [], hasNext: false, end: null });
    calls[0]?.answer(tEssay());
    await orders.stop();
  });

  it('has no position behind what another process has sent', async () => {
    const store = createMemoryStore();
    const [one, other] = [tOrders({ store, maxRunning: 1 }), tOrders({ store, maxRunning: 1 })];
    const [, second, third] = [await one.start('a'), await one.start('b'), await one.start('c')];
    expect(await one.stateOf(third)).toEqual({ kind: 'queued', position: 1 });
    await pass(6_000);
    expect([one.calls.length, other.calls.length]).toEqual([1, 1]);
    expect(await one.stateOf(second)).toMatchObject({ kind: 'writing' });
    for (const { stateOf } of [one, other]) expect(await stateOf(third)).toEqual({ kind: 'queued', position: 0 });
    one.calls[0]?.answer(tEssay());
    await pass(6_000);
    // The other process has queued it, too, and still writes.
    expect([one.calls.length, other.calls.length]).toEqual([2, 1]);
    one.calls[1]?.answer(tEssay());
    await pass(6_000);
    expect(await one.stateOf(third)).toMatchObject({ kind: 'finished' });
    expect([one.orders.status().waiting, other.orders.status().waiting]).toEqual([0, 0]);
    other.calls[0]?.answer(tEssay());
    await pass(0);
    await Promise.all([one.orders.stop(), other.orders.stop()]);
  });

  it('leaves the queue of a process that has only read it, when another one has written it and taken it out of the list', async () => {
    const store = createMemoryStore();
    const [one, other] = [tOrders({ store, maxRunning: 1 }), tOrders({ store, maxRunning: 1 })];
    await other.start('x');
    await one.start('a');
    const second = await one.start('b');
    expect(await other.stateOf(second)).toEqual({ kind: 'queued', position: 0 });
    for (const index of [0, 1]) {
      one.calls[index]?.answer(tEssay());
      await pass(0);
    }
    await pass(6_000);
    expect(await other.stateOf(second)).toMatchObject({ kind: 'finished' });
    expect(other.orders.status().waiting).toBe(0);
    other.calls[0]?.answer(tEssay());
    await pass(0);
    await Promise.all([one.orders.stop(), other.orders.stop()]);
  });

  it('is found by another process, which has queued one whose record is damaged', async () => {
    const store = createMemoryStore();
    const [one, other] = [tOrders({ store, maxRunning: 1 }), tOrders({ store, maxRunning: 1 })];
    await one.start('a');
    const damaged = await one.start('b');
    await other.start('x');
    const left = await other.start('c');
    await store.set(toRecordKey(damaged.id, ann.id), 'garbage', { expiresInMs: 60_000 });
    const stopped = other.orders.stop();
    other.calls[0]?.answer(tEssay());
    await stopped;
    await pass(6_000);
    expect(one.orders.status().waiting).toBe(2);
    expect(await one.stateOf(left)).toMatchObject({ kind: 'queued' });
    const stopping = one.orders.stop();
    one.calls[0]?.answer(tEssay());
    await stopping;
  });

  it('waits while others run, and shows its position', async () => {
    const { start, stateOf, calls, orders } = tOrders({ maxRunning: 1 });
    const [first, second, third] = [await start('a'), await start('b'), await start('c')];
    expect(await stateOf(second)).toEqual({ kind: 'queued', position: 0 });
    expect(await stateOf(third)).toEqual({ kind: 'queued', position: 1 });
    expect(orders.status()).toMatchObject({ running: 1, waiting: 2 });
    calls[0]?.answer(tEssay());
    await pass(0);
    expect(await stateOf(first)).toMatchObject({ kind: 'finished' });
    expect(await stateOf(second)).toMatchObject({ kind: 'writing' });
    expect(await stateOf(third)).toEqual({ kind: 'queued', position: 0 });
    calls[1]?.answer(failed);
    await pass(0);
    expect(await stateOf(second)).toEqual({ kind: 'failed', failure: failed });
    calls[2]?.answer(tEssay());
    await orders.stop();
  });

  it('is refused beyond the limit of its caller, and while the store fails', async () => {
    const { start, orders, calls, loseStore, findStore } = tOrders({ maxPerCaller: 1 });
    await start('a');
    expect(await orders.start({ ...order, idempotencyKey: 'b' }, ann)).toMatchObject({
      kind: 'service-failed',
      retryable: true,
      message: expect.stringMatching(/^1 of your orders/),
    });
    loseStore();
    const refused = await orders.start({ ...order, idempotencyKey: 'c' }, { ...ann, id: 'bob' });
    expect(refused).toMatchObject({ kind: 'service-failed', code: 'UPSTREAM_UNAVAILABLE', retryable: true });
    findStore();
    calls[0]?.answer(tEssay());
    await pass(0);
    expect(calls).toHaveLength(1);
    await orders.stop();
  });
});

describe('the end of an order', () => {
  it.each([
    ['started', 'finished', tEssay()],
    ['started', 'failed', timedOut],
    ['awaited', 'finished', tEssay()],
  ] as const)('is shown only after it is stored, in every way to ask: %s, %s', async (way, end, answer) => {
    const memory = createMemoryStore();
    const { store, proceed } = tDelayed(memory, /^replace .*"state":\{"kind":"(finished|failed)"/);
    const { orders, essays, calls, ...process } = tOrders({ store });
    const keyed = { ...order, idempotencyKey: 'a' };
    if (way === 'started') await process.start('a');
    else void essays.generate(keyed, from());
    await pass(0);
    const ordered = (await orders.findByKey('a', ann.id)) as EssayOrder;
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const state of await orders.watch(ordered.id, ann.id, new AbortableSignal()))
        seen.push(state?.state.kind);
    })();
    const returned: unknown[] = [];
    const repeated = essays.generate(keyed, from()).then((result) => returned.push(result));
    calls[0]?.answer(answer);
    await pass(700);
    const shown = async () => [
      await process.stateOf(ordered),
      (await orders.findByKey('a', ann.id))?.state,
      (await listOrders(orders, {})).entries[0]?.order.state,
      ((await orders.start(keyed, ann)) as EssayOrder).state,
    ];
    for (const state of await shown()) expect(state).toMatchObject({ kind: 'writing' });
    expect([seen, returned]).toEqual([['writing'], []]);
    expect(await orders.delete(ordered.id, ann.id)).toMatchObject({ result: 'not-ended' });
    proceed();
    await pass(0);
    await repeated;
    await watching;
    for (const state of await shown()) expect(state).toMatchObject({ kind: end });
    expect([seen, returned]).toEqual([['writing', end], [answer]]);
    const other = tOrders({ store: memory });
    expect((await other.orders.findByKey('a', ann.id))?.state.kind).toBe(end);
    await Promise.all([orders.stop(), other.orders.stop()]);
  });
});

describe('cancelling', () => {
  const free = { kind: 'cancelled', mayHaveBeenPaid: false };
  const paid = { kind: 'cancelled', mayHaveBeenPaid: true };
  it.each([
    ['is not known to be refused', 'unknown', true],
    ['never reached the service', undefined, false],
  ] as const)('an order that has failed and %s is not cancelled', async (_, outcome, mayHaveBeenPaid) => {
    const { orders, start, calls } = tOrders();
    const { id } = await start('a');
    const failure = {
      kind: 'service-failed',
      message: 'It failed.',
      code: 'UPSTREAM_FAILED',
      retryable: true,
    } as const;
    calls[0]?.answer({ ...failure, rawText: null, ...(outcome && { outcome }) });
    await pass(0);
    expect(await orders.cancel(id, ann.id)).toMatchObject({ isCancelled: false, mayHaveBeenPaid });
    await orders.stop();
  });

  it.each([
    ['waits', false, 'b', true, free],
    ['is in the queue of the service', false, 'a', true, free],
    ['was sent', false, 'sent', false, null],
    ['was sent, if the operator allows that', true, 'sent', true, paid],
  ] as const)('an order that %s, also from another process', async (_, cancelsSent, key, isCancelled, state) => {
    const store = createMemoryStore();
    const [here, there] = [
      tOrders({ store, maxRunning: 2, cancelsSent }),
      tOrders({ store, maxRunning: 0, cancelsSent }),
    ];
    const sent = await here.start('sent');
    here.queue();
    const orders = { sent, a: await here.start('a'), b: await here.start('b') };
    const { id } = orders[key];
    for (const { orders } of [there, here]) {
      expect(await orders.find(id, ann.id)).toMatchObject({ isCancellable: orders === there.orders && isCancelled });
      const cancelled = await orders.cancel(id, ann.id);
      expect(cancelled).toMatchObject({ isCancelled, mayHaveBeenPaid: key === 'sent', order: state ? { state } : {} });
      await pass(1_000);
    }
    expect(here.calls[0]?.context.signal.aborted).toBe(state === paid);
    here.leaveQueue();
    const essay = tEssay();
    here.calls[0]?.answer(essay);
    await pass(0);
    if (key === 'sent') expect(await here.stateOf(sent)).toEqual(state ?? { kind: 'finished', essayId: essay.id });
    expect(
      here.calls.filter(({ order, context }) => order.idempotencyKey === key && context.usage.upstreamCalls > 0),
    ).toHaveLength(key === 'sent' ? 1 : 0);
    for (const { answer } of here.calls) answer(failed);
    await Promise.all([here.orders.stop(), there.orders.stop()]);
  });
});

describe('when the key of its caller is withdrawn', () => {
  const failure = {
    kind: 'service-failed',
    message: 'The API key of the caller was withdrawn before the order was sent, so the essay service was not called.',
    code: 'UPSTREAM_UNAVAILABLE',
    retryable: false,
    rawText: null,
  };

  it('an order that was not sent fails, and one that was sent is completed', async () => {
    let isWithdrawn = false;
    const { start, orders, calls, stateOf } = tOrders({ isWithdrawn: () => isWithdrawn });
    const started: EssayOrder[] = [];
    for (let number = 1; number <= 10; number += 1) started.push(await start(`key-${number}`));
    isWithdrawn = true;
    await pass(1_000);
    for (const ordered of started.slice(2)) expect(await stateOf(ordered)).toEqual({ kind: 'failed', failure });
    const essays = [tEssay(), tEssay()];
    for (const [index, essay] of essays.entries()) calls[index]?.answer(essay);
    await pass(1_000);
    for (const [index, essay] of essays.entries())
      expect(await stateOf(started[index] as EssayOrder)).toEqual({ kind: 'finished', essayId: essay.id });
    expect(calls).toHaveLength(2);
    await orders.stop();
  });

  it('an order that waits for a call fails when it would be sent', async () => {
    let isWithdrawn = false;
    const { start, orders, calls, queue, leaveQueue, stateOf, fired } = tOrders({ isWithdrawn: () => isWithdrawn });
    queue();
    const ordered = await start('a');
    isWithdrawn = true;
    leaveQueue();
    await pass(0);
    expect(await stateOf(ordered)).toEqual({ kind: 'failed', failure });
    expect(calls.map(({ context }) => context.usage.upstreamCalls)).toEqual([0]);
    expect(fired).toEqual(['failed: UPSTREAM_UNAVAILABLE']);
    expect(await orders.cancel(ordered.id, ann.id)).toMatchObject({ mayHaveBeenPaid: false });
    await orders.stop();
  });

  it('an order whose client waits fails, too, if it was not sent, and is none', async () => {
    let isWithdrawn = false;
    const { essays, orders, calls, queue } = tOrders({ isWithdrawn: () => isWithdrawn });
    const sent = essays.generate({ ...order, idempotencyKey: 'sent' }, from());
    await pass(0);
    queue();
    const waiting = essays.generate({ ...order, idempotencyKey: 'a' }, from());
    await pass(0);
    isWithdrawn = true;
    await pass(1_000);
    expect(await waiting).toEqual(failure);
    expect(await orders.findByKey('a', ann.id)).toBeNull();
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await sent).toEqual(essay);
    expect(calls.map(({ context }) => context.usage.upstreamCalls)).toEqual([1, 0]);
    await orders.stop();
  });
});

describe('while its process stops', () => {
  it('an order that is started is stored, and another process sends it', async () => {
    const store = createMemoryStore();
    const [first, second] = [tOrders({ store }), tOrders({ store })];
    await first.start('a');
    const stopping = first.orders.stop();
    const ordered = await first.start('b');
    first.calls[0]?.answer(tEssay());
    await stopping;
    expect(first.calls).toHaveLength(1);
    await pass(2_000);
    second.calls[0]?.answer(tEssay());
    await pass(0);
    expect(await second.stateOf(ordered)).toMatchObject({ kind: 'finished' });
    await second.orders.stop();
  });
});

describe('an order that was sent', () => {
  it('remains with its process while that completes it before its end, however long this takes', async () => {
    const store = createMemoryStore();
    const [first, second] = [tOrders({ store }), tOrders({ store })];
    const ordered = await first.start('a');
    const waiting = collect(second.orders.watch(ordered.id, 'ann', new AbortableSignal()));
    await pass(1_000);
    const stopping = first.orders.stop();
    await pass(60_000);
    expect(await second.stateOf(ordered)).toMatchObject({ kind: 'writing' });
    const cancelling = second.orders.cancel(ordered.id, 'ann');
    await pass(3_000);
    expect(await cancelling).toMatchObject({ isCancelled: false, mayHaveBeenPaid: true });
    first.calls[0]?.answer(tEssay());
    await stopping;
    await pass(1_000);
    expect((await waiting).map((ordered) => ordered?.state.kind)).toEqual(['writing', 'finished']);
    expect(second.fired).toEqual([]);
    await second.orders.stop();
  });

  it('has failed as one that may have been paid for, and is not cancelled, when its process has stopped', async () => {
    const store = createMemoryStore();
    const [first, second] = [tOrders({ store }), tOrders({ store, maxRunning: 1, cancelsSent: true })];
    const ordered = await first.start('a');
    await second.start('b');
    await pass(1_000);
    first.crash();
    await pass(12_000);
    expect(second.fired).toEqual(['failed: UPSTREAM_FAILED', 'adopted: 1']);
    expect(await second.stateOf(ordered)).toEqual({ kind: 'failed', failure: unknownOutcome });
    expect(await second.orders.cancel(ordered.id, 'ann')).toMatchObject({ isCancelled: false, mayHaveBeenPaid: true });
    for (const { calls } of [first, second]) calls[0]?.answer(tEssay());
    await Promise.all([first.orders.stop(), second.orders.stop()]);
    await first.essays.close();
  });
});

describe('while the store fails', () => {
  it('the end of a started order is kept, and stored when it works again', async () => {
    const store = createMemoryStore();
    const [here, there] = [tOrders({ store }), tOrders({ store })];
    const ordered = await here.start('a');
    here.loseStore();
    here.calls[0]?.answer(notSent);
    await pass(1_000);
    expect(await there.stateOf(ordered)).toMatchObject({ kind: 'writing' });
    expect(await here.stateOf(ordered)).toEqual({ kind: 'failed', failure: notSent });
    await pass(2_000);
    // It cannot know whether the other one still lives.
    expect(await there.stateOf(ordered)).toEqual({ kind: 'failed', failure: unknownOutcome });
    here.findStore();
    await pass(1_000);
    expect(await there.stateOf(ordered)).toEqual({ kind: 'failed', failure: notSent });
    await Promise.all([here.orders.stop(), there.orders.stop()]);
  });
});

describe('a watcher', () => {
  it('sees each state, in its process and in others, and the end', async () => {
    const store = createMemoryStore();
    const [here, there] = [tOrders({ store }), tOrders({ store, maxRunning: 0 })];
    here.queue();
    const ordered = await here.start('a');
    const seen = [here, there].map(({ orders }) => collect(orders.watch(ordered.id, 'ann', new AbortableSignal())));
    await pass(1_000);
    here.leaveQueue();
    await pass(1_000);
    here.calls[0]?.answer(tEssay());
    await pass(1_000);
    for (const states of seen)
      expect((await states).map((ordered) => ordered?.state.kind)).toEqual(['queued', 'writing', 'finished']);
    await Promise.all([here.orders.stop(), there.orders.stop()]);
  });

  it('that reads slowly misses states, and delays no others', async () => {
    const { start, orders, calls } = tOrders();
    const ordered = await start('a');
    const slow = await orders.watch(ordered.id, 'ann', new AbortableSignal());
    expect((await slow.next()).value?.state.kind).toBe('writing');
    calls[0]?.answer(tEssay());
    await pass(0);
    expect(await collect(orders.watch(ordered.id, 'ann', new AbortableSignal()))).toHaveLength(1);
    expect((await slow.next()).value?.state.kind).toBe('finished');
    expect((await slow.next()).done).toBe(true);
    await orders.stop();
  });

  it('ends when its client leaves, and when the process stops', async () => {
    const { start, orders, calls } = tOrders();
    const ordered = await start('a');
    const client = new AbortableSignal();
    const left = collect(orders.watch(ordered.id, 'ann', client));
    const stopped = collect(orders.watch(ordered.id, 'ann', new AbortableSignal()));
    await pass(0);
    client.abort(null);
    expect(await left).toHaveLength(1);
    const stopping = orders.stop();
    expect(await stopped).toHaveLength(1);
    calls[0]?.answer(tEssay());
    await stopping;
  });
});

describe('the list of a caller', () => {
  it('has the newest orders first, in pages, by state', async () => {
    const { start, orders, calls } = tOrders({ maxRunning: 3 });
    const started: EssayOrder[] = [];
    for (const key of ['a', 'b', 'c', 'd']) started.push(await start(key));
    calls[1]?.answer(tEssay());
    calls[0]?.answer(failed);
    await pass(0);
    const [a, b, c, d] = started.map(({ id }) => id);
    const list = async (after: number | null, state: 'finished' | null = null, first = 2) => {
      const { entries, hasNext } = await listOrders(orders, { first, after, state });
      return { ids: entries.map(({ order }) => order.id), last: entries.at(-1)?.number ?? null, hasNext };
    };
    const page = await list(null);
    expect(page).toMatchObject({ ids: [d, c], hasNext: true });
    expect(await list(page.last)).toMatchObject({ ids: [b, a], hasNext: false });
    expect(await list(null, 'finished')).toMatchObject({ ids: [b], hasNext: false });
    expect(await list(999)).toMatchObject({ ids: [d, c] });
    expect(await orders.delete(a ?? '', 'ann')).toMatchObject({ result: 'deleted' });
    expect(await orders.delete(c ?? '', 'ann')).toMatchObject({ result: 'not-ended' });
    await pass(1);
    expect(await list(null, null, 9)).toMatchObject({ ids: [d, c, b], hasNext: false });
    for (const call of calls) call.answer(tEssay());
    await orders.stop();
  });
});

async function collect(watching: Promise<AsyncGenerator<EssayOrder | null>>): Promise<(EssayOrder | null)[]> {
  const seen: (EssayOrder | null)[] = [];
  for await (const ordered of await watching) seen.push(ordered);
  return seen;
}

it('an order that is watched, and cannot be recorded as sent, is tried every few seconds', async () => {
  const memory = createMemoryStore();
  let isFull = false;
  let refused = 0;
  // A loop without a pause would never end.
  const orRefuse = <Result>(write: () => Promise<Result>): Promise<Result> => {
    if (!isFull || refused >= 1_000) return write();
    refused += 1;
    return Promise.reject(new StoreError('full'));
  };
  const store: Store = {
    ...memory,
    set: (...args) => orRefuse(() => memory.set(...args)),
    replace: (...args) => orRefuse(() => memory.replace(...args)),
  };
  const { orders, start, calls, stateOf } = tOrders({ store, maxRunning: 1 });
  await start('first');
  const waiting = await start('waiting');
  const seen: (string | undefined)[] = [];
  const watching = (async () => {
    for await (const shown of await orders.watch(waiting.id, ann.id, new AbortableSignal()))
      seen.push(shown?.state.kind);
  })();
  await pass(0);
  isFull = true;
  calls[0]?.answer(tEssay());
  await pass(10_000);
  expect(await stateOf(waiting)).toMatchObject({ kind: 'queued' });
  expect(refused).toBeGreaterThan(2);
  expect(refused).toBeLessThan(60);
  isFull = false;
  await pass(4_000);
  calls[1]?.answer(tEssay());
  await pass(1_000);
  await watching;
  expect(seen.at(-1)).toBe('finished');
  await orders.stop();
});
