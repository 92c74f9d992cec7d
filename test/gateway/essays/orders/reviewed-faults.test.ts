import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toRecordKey } from '../../../../src/gateway/essays/orders/order-record.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { tEssay } from '../../../support/gateway/essays/generator.ts';
import { ann, idOf, keyed, notSent, sentBy, tOrders } from '../../../support/gateway/essays/orders.ts';
import { from, pass } from '../../../support/gateway/essays/processes.ts';
import { tTwo, tUnsteady } from '../../../support/gateway/essays/unsteady-store.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Faults that a review has found: a slow or failing store, lost data, and two processes at one moment. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const recordKey = (idempotencyKey: string) => toRecordKey(idOf(idempotencyKey), ann.id);

type Process = ReturnType<typeof tOrders>;

const sentKeys = (...processes: Process[]) =>
  processes.flatMap(({ calls }) =>
    calls.filter(({ context }) => context.usage.upstreamCalls > 0).map((call) => call.order.idempotencyKey),
  );

const anyRecord = /^replace essay-record/;
const takenBack = /^replace essay-record\S+ null$/;
const asSent = /^replace essay-record.*"state":\{"kind":"sent"/;

describe('an order is not sent twice without consent', () => {
  it('F1: if the store loses its data, and an order that is about to be sent notices that first', async () => {
    const { memory, one, two } = tTwo();
    await one.start('long');
    await one.start('short');
    await one.start('waiting');
    await pass(1_500);
    memory.clear();
    one.calls[1]?.answer(notSent);
    await pass(6_000);
    // Its client has lost the connection, and tries again.
    void two.essays.generate(keyed('long'), from());
    await pass(30_000);
    expect(sentKeys(one, two).filter((key) => key === 'long')).toHaveLength(1);
  });
});

describe('an order without a client is not sent', () => {
  it('F2: if it was cancelled and deleted some time after the store had failed', async () => {
    const { one, two } = tTwo();
    one.queue();
    const { id } = await one.start('a');
    await pass(100);
    one.recover();
    await pass(20_000);
    expect(await two.orders.cancel(id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: false });
    expect(await two.orders.delete(id, ann.id)).toBe('deleted');
    one.leaveQueue();
    await pass(10_000);
    expect(sentBy(one)).toBe(0);
  });

  it('F3: if its only client left while the order of another one with its key was being read', async () => {
    const { one, two, hold } = tTwo();
    two.queue();
    const [first, second] = [new AbortController(), new AbortController()];
    void two.essays.generate(keyed('a'), from(ann.id, first.signal)).catch(() => null);
    await pass(10);
    void one.essays.generate(keyed('a'), from(ann.id, second.signal)).catch(() => null);
    await pass(10);
    const release = hold(/^get essay-record/);
    first.abort();
    await pass(1_000);
    second.abort();
    release();
    await pass(5_000);
    expect(sentBy(one, two)).toBe(0);
  });
});

describe('an order that was accepted is sent', () => {
  it('G1: if an earlier start with its key in this process was refused, and is being taken back', async () => {
    const { one, two, hold, loseAnswer } = tTwo();
    loseAnswer(anyRecord);
    const release = hold(takenBack);
    expect(await one.orders.start(keyed('a'), ann)).toMatchObject({ kind: 'service-failed', retryable: true });
    const second = one.orders.start(keyed('a'), ann);
    await pass(10);
    release();
    expect(await second).toMatchObject({ id: idOf('a') });
    await pass(60_000);
    expect(sentBy(one, two)).toBe(1);
  });

  it('G2: if an earlier start with its key in another process was refused, and is being taken back', async () => {
    const { one, two, hold, loseAnswer } = tTwo();
    loseAnswer(anyRecord);
    const release = hold(takenBack);
    expect(await one.orders.start(keyed('a'), ann)).toMatchObject({ kind: 'service-failed', retryable: true });
    const second = await two.orders.start(keyed('a'), ann);
    release();
    await pass(60_000);
    expect(sentBy(one, two)).toBe('kind' in second ? 0 : 1);
  });

  it('G3: if the process that takes it over waits for the answer to its write while another one looks at it', async () => {
    const { memory, one, loseAnswer } = tTwo();
    const crashed = tOrders({ store: memory, maxRunning: 1 });
    await pass(500);
    // Its turns come half a second after those of the first.
    const two = tOrders({ store: memory });
    await crashed.start('busy');
    await crashed.start('a');
    crashed.crash();
    loseAnswer(/^replace essay-record.*"idempotencyKey":"a"/, 2_000);
    await pass(60_000);
    expect(sentKeys(one, two)).toContain('a');
  });

  it('G4: if one process after the other stops, and the second does so while it looks for left orders', async () => {
    const { memory, one, two: first, hold } = tTwo();
    first.queue();
    await first.start('a');
    await pass(1_500);
    await first.orders.stop();
    await first.essays.close();
    const release = hold(/^get essay-process-orders/);
    await pass(1_500);
    const stopping = one.orders.stop();
    await pass(10);
    release();
    await stopping;
    await one.essays.close();
    const next = tOrders({ store: memory });
    await pass(60_000);
    expect(sentBy(next)).toBe(1);
  });

  it('G5: if its process stops while a client of another one orders it, and leaves', async () => {
    const { one, two: first, hold } = tTwo();
    first.queue();
    await first.start('a');
    await pass(1_500);
    await first.orders.stop();
    await first.essays.close();
    const client = new AbortController();
    const release = hold(/^add |^get essay-store-marker/);
    void one.essays.generate(keyed('a'), from(ann.id, client.signal)).catch(() => null);
    await pass(1_500);
    client.abort();
    release();
    await pass(60_000);
    expect(sentBy(one)).toBe(1);
  });

  it('G6: if the store loses its data between the check for that and the next look at the order', async () => {
    const { memory, one, interruptNext } = tTwo({ maxRunning: 1 });
    await one.start('busy');
    await one.start('a');
    await pass(500);
    interruptNext(new RegExp(`^get ${recordKey('a')}`), () => memory.clear());
    await pass(5_000);
    one.calls[0]?.answer(tEssay());
    await pass(10_000);
    expect(sentKeys(one)).toContain('a');
  });

  it('G7: if the store loses its data between the check for that and its recording as sent', async () => {
    const { memory, one, interruptNext } = tTwo();
    interruptNext(asSent, () => memory.clear());
    await one.start('a');
    await pass(10_000);
    expect(sentBy(one)).toBe(1);
  });

  it('G8: if its process stops just after the store has lost its data', async () => {
    const { one, two, memory } = tTwo({ maxRunning: 1 });
    await one.start('busy');
    await one.start('a');
    await pass(500);
    memory.clear();
    const stopping = one.orders.stop();
    await pass(10);
    one.calls[0]?.answer(tEssay());
    await stopping;
    await one.essays.close();
    await pass(60_000);
    expect(sentKeys(two)).toEqual(['a']);
  });

  it('G9: if its process stops while it is being recorded as sent', async () => {
    const { one, two, hold } = tTwo();
    one.queue();
    await one.start('a');
    await pass(1_500);
    const release = hold(asSent);
    one.leaveQueue();
    await pass(10);
    const stopping = one.orders.stop();
    await pass(10);
    release();
    await stopping;
    await one.essays.close();
    await pass(60_000);
    expect(sentBy(one, two)).toBe(1);
  });

  it('G10: if the store failed when it was to be recorded as sent', async () => {
    const { one, fail } = tTwo();
    const work = fail(asSent);
    await one.start('a');
    await pass(5_000);
    expect(sentBy(one)).toBe(0);
    work();
    await pass(5_000);
    expect(sentBy(one)).toBe(1);
  });
});

describe('counts and limits', () => {
  it('H1: at most so many started orders run at a time, also if the first of them took longer to be stored', async () => {
    const { one, hold } = tTwo({ maxRunning: 1 });
    const release = hold(/^replace essay-record.*"idempotencyKey":"slow"/);
    const slow = one.orders.start(keyed('slow'), ann);
    await pass(10);
    await one.start('fast');
    release();
    await slow;
    await pass(10);
    expect(sentKeys(one)).toEqual(['fast']);
  });

  it('H2: a caller has at most so many started orders, also if they are those that other clients wait for', async () => {
    const { one } = tTwo({ maxPerCaller: 1 });
    one.queue();
    const keys = ['a', 'b', 'c'];
    for (const key of keys) void one.essays.generate(keyed(key), from());
    await pass(10);
    const answers = await Promise.all(keys.map((key) => one.orders.start(keyed(key), ann)));
    expect(answers.filter((answer) => !('kind' in answer))).toHaveLength(1);
  });

  it('H3: an order that has failed with its process is reported once, also if it is looked at twice', async () => {
    const memory = createMemoryStore();
    const { store, hold } = tUnsteady(memory);
    const [one, crashed] = [tOrders({ store }), tOrders({ store: memory })];
    await crashed.start('a');
    crashed.crash();
    const release = hold(anyRecord);
    await pass(15_000);
    const found = one.orders.findByKey('a', ann.id);
    await pass(10);
    release();
    expect(await found).toMatchObject({ state: { kind: 'failed' } });
    await pass(2_000);
    expect(one.fired.filter((event) => event.startsWith('failed'))).toHaveLength(1);
  });

  it('H4: the number of operations each second does not grow with the time in which leases cannot be renewed', async () => {
    const memory = createMemoryStore();
    const { store, fail } = tUnsteady(memory);
    let reads = 0;
    const get: Store['get'] = (key) => {
      if (key.startsWith('essay-process:')) reads += 1;
      return memory.get(key);
    };
    const [one] = [tOrders({ store }), tOrders({ store: { ...memory, get } })];
    await one.start('a');
    for (let failure = 0; failure < 20; failure += 1) {
      const work = fail(/^set essay-process/);
      await pass(7_000);
      work();
      await pass(5_000);
    }
    reads = 0;
    await pass(1_000);
    expect(reads).toBeLessThanOrEqual(3);
  });
});

describe('a client', () => {
  it('I1: finds its failed order unchanged after it was refused to order it again', async () => {
    const { one, loseAnswer } = tTwo();
    await one.start('a');
    one.calls[0]?.answer(notSent);
    await pass(1_000);
    loseAnswer(anyRecord);
    expect(await one.orders.start({ ...keyed('a'), orderAgain: true }, ann)).toMatchObject({ retryable: true });
    await pass(5_000);
    expect(await one.orders.findByKey('a', ann.id)).toMatchObject({ state: { kind: 'failed', failure: notSent } });
  });

  it('I2: that waits for an essay is not refused by the limit of stored orders, which a start exceeds', async () => {
    const { one, hold } = tTwo({ maxMegabytes: 0.001 });
    const release = hold(/^add /);
    const started = one.orders.start(keyed('a'), ann);
    await pass(10);
    const waiting = one.essays.generate(keyed('a'), from());
    await pass(10);
    release();
    expect(await started).toMatchObject({ kind: 'service-failed' });
    await pass(10);
    one.calls[0]?.answer(tEssay());
    await pass(2_000);
    expect(await waiting).toMatchObject({ kind: 'essay' });
  });

  it('I3: gets its essay again while another order is refused because it uses the same key', async () => {
    const { one, hold } = tTwo();
    const first = one.essays.generate(keyed('a'), from());
    await pass(10);
    const essay = tEssay();
    one.calls[0]?.answer(essay);
    await first;
    const release = hold(/^get essay-record/);
    const other = one.essays.generate({ ...keyed('a'), description: 'Another topic' }, from());
    const again = one.essays.generate(keyed('a'), from());
    await pass(10);
    release();
    expect(await other).toMatchObject({ kind: 'invalid-input' });
    expect(await again).toEqual(essay);
  });

  it('I4: gets its essay by its id after a shutdown during which the store has failed once', async () => {
    const { one, two, hold } = tTwo();
    const waiting = one.essays.generate(keyed('a'), from());
    await pass(10);
    const essay = tEssay();
    const release = hold(/^set essay:/, true);
    one.calls[0]?.answer(essay);
    await pass(10);
    const closing = one.essays.close();
    await pass(10);
    release();
    await Promise.all([waiting, closing]);
    expect(one.fired).toEqual([]);
    expect(await two.essays.archive.find(essay.id, from())).toEqual(essay);
  });

  it('I5: can start an order that it has not waited for', async () => {
    const { one } = tTwo();
    one.queue();
    const client = new AbortController();
    const left = one.essays.generate(keyed('a'), from(ann.id, client.signal)).catch(() => null);
    await pass(10);
    client.abort();
    await left;
    await pass(1_000);
    expect(await one.orders.start(keyed('a'), ann)).toMatchObject({ state: { kind: 'queued' } });
  });

  it('I6: finds its essay in another process as soon as it has it, also if a turn has begun at that moment', async () => {
    const { one, two } = tTwo();
    const waiting = one.essays.generate(keyed('a'), from());
    await pass(500);
    one.calls[0]?.answer(tEssay());
    vi.advanceTimersByTime(500);
    await waiting;
    expect(await two.orders.findByKey('a', ann.id)).toMatchObject({ state: { kind: 'finished' } });
  });
});
