import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../../src/base/async/signal.ts';
import type { EssayOrder, EssayResult, OrderInput } from '../../../../src/gateway/essays/essays.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';
import { failed, order, tEssay, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann, listJobs, tJobs } from '../../../support/gateway/essays/jobs.ts';
import { dayMs, from, pass, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Orders of `generateEssay`, whose clients wait for them, as jobs show them. */

useFakeTime();

const notSent = { ...failed, code: 'UPSTREAM_UNAVAILABLE' } as EssayResult;

type Process = ReturnType<typeof tJobs>;

/** Orders an essay with this key, and lets it be sent. */
async function generate({ essays }: Process, idempotencyKey = 'a', changes: Partial<OrderInput> = {}) {
  const result = essays.generate({ ...order, ...changes, idempotencyKey }, from());
  await pass(0);
  return { result };
}

async function find({ jobs }: Process, key = 'a'): Promise<EssayOrder> {
  const job = await jobs.findByKey(key, ann.id);
  if (job === null) throw new Error('there is no such order');
  return job;
}

const list = async ({ jobs }: Process, state: 'finished' | null = null) =>
  (await listJobs(jobs, { state })).entries.map(({ order }) => order);

describe('an order whose client waits for it', () => {
  it('is found by its key and its id, and listed, only for its caller, from when it is sent', async () => {
    const process = tJobs();
    process.queue();
    const { result } = await generate(process);
    expect(await process.jobs.findByKey('a', ann.id)).toBeNull();
    expect(await list(process)).toEqual([]);
    process.leaveQueue();
    await pass(0);
    const job = await find(process);
    expect(job).toMatchObject({ state: { kind: 'writing', textSoFar: '' }, input: { description: order.description } });
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    await result;
    const finished = { ...job, state: { kind: 'finished', essayId: essay.id } };
    expect(await find(process)).toEqual(finished);
    expect(await process.jobs.find(job.id, ann.id)).toEqual(finished);
    expect(await list(process, 'finished')).toEqual([finished]);
    expect(await process.jobs.find(job.id, 'bob')).toBeNull();
    expect(await process.jobs.findByKey('a', 'bob')).toBeNull();
    await process.jobs.stop();
  });

  it('that was not sent is none, also if its client has left', async () => {
    const process = tJobs();
    process.queue();
    const client = new AbortController();
    const result = process.essays.generate({ ...order, idempotencyKey: 'a' }, from(ann.id, client.signal));
    await pass(0);
    const hasLeft = expect(result).rejects.toThrow();
    client.abort();
    await hasLeft;
    expect(await process.jobs.findByKey('a', ann.id)).toBeNull();
    expect(await list(process)).toEqual([]);
    await process.jobs.stop();
  });

  it('shows its last failure for as long as essays are stored, and is sent again by its client', async () => {
    const process = tJobs();
    const first = await generate(process);
    process.calls[0]?.answer(failed);
    expect(await first.result).toEqual(failed);
    await pass(dayMs / 2);
    const job = await find(process);
    expect(job.state).toEqual({ kind: 'failed', failure: failed });
    const second = await generate(process);
    expect((await find(process)).state).toMatchObject({ kind: 'writing' });
    process.calls[1]?.answer(tEssay());
    await second.result;
    expect(await list(process)).toMatchObject([{ id: job.id, state: { kind: 'finished' } }]);
    await process.jobs.stop();
  });

  it('shows the order that its key is used for after a failure', async () => {
    const process = tJobs();
    const first = await generate(process);
    process.calls[0]?.answer(failed);
    await first.result;
    const second = await generate(process, 'a', { description: 'Pencils' });
    expect(await find(process)).toMatchObject({ state: { kind: 'writing' }, input: { description: 'Pencils' } });
    process.calls[1]?.answer(tEssay());
    await second.result;
    expect(await list(process)).toHaveLength(1);
    await process.jobs.stop();
  });

  it('is watched in another process to its end', async () => {
    const store = createMemoryStore();
    const [here, there] = [tJobs({ store }), tJobs({ store })];
    const { result } = await generate(here);
    const seen: unknown[] = [];
    const watching = (async () => {
      const { id } = await find(there);
      for await (const job of await there.jobs.watch(id, ann.id, new AbortableSignal())) seen.push(job?.state.kind);
    })();
    await pass(20_000);
    here.calls[0]?.answer(tEssay());
    await result;
    await pass(1_000);
    await watching;
    expect(seen).toEqual(['writing', 'finished']);
    await Promise.all([here.jobs.stop(), there.jobs.stop()]);
  });

  it('may have been paid for when its process has crashed, and no other process sends it', async () => {
    const store = createMemoryStore();
    const [first, second] = [tJobs({ store }), tJobs({ store })];
    const { result } = await generate(first);
    await pass(1_000);
    first.crash();
    await pass(5_000);
    expect((await find(second)).state).toMatchObject({ kind: 'writing' });
    await pass(20_000);
    expect((await find(second)).state).toEqual({ kind: 'failed', failure: unknownOutcome });
    expect(second.calls).toEqual([]);
    first.findStore();
    const essay = tEssay();
    first.calls[0]?.answer(essay);
    await result;
    expect((await find(second)).state).toEqual({ kind: 'finished', essayId: essay.id });
    await Promise.all([first.jobs.stop(), second.jobs.stop()]);
  });

  it('is not cancelled, and is deleted with its essay only after its end', async () => {
    const process = tJobs({ cancelsSent: true });
    const { result } = await generate(process);
    const { id } = await find(process);
    expect(await process.jobs.cancel(id, ann.id)).toMatchObject({ isCancelled: false, mayHaveBeenPaid: true });
    expect(await process.jobs.delete(id, ann.id)).toBe('not-ended');
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await process.jobs.delete(id, ann.id)).toBe('deleted');
    await pass(1);
    expect(await process.jobs.findByKey('a', ann.id)).toBeNull();
    expect(await process.jobs.delete(id, ann.id)).toBe('unknown');
    expect(await list(process)).toEqual([]);
    expect(await process.essays.archive.find(essay.id, from())).toBeNull();
    const again = await generate(process);
    process.calls[1]?.answer(tEssay());
    await again.result;
    expect(await list(process)).toHaveLength(1);
    await process.jobs.stop();
  });

  it('is written also if it cannot be listed', async () => {
    const store = createMemoryStore();
    const add: typeof store.add = (key, amount, expiry) =>
      amount > 0 && key.startsWith('essay-jobs:')
        ? Promise.reject(new StoreError('not connected'))
        : store.add(key, amount, expiry);
    const process = tJobs({ store: { ...store, add } });
    const { result } = await generate(process);
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await list(process)).toEqual([]);
    await process.jobs.stop();
  });

  it('that ends with its process while its state is read has no unknown outcome', async () => {
    const store = createMemoryStore();
    const here = tJobs({ store });
    const { get } = store;
    let beforeLook = async () => {};
    const isLease = (key: string) => key.startsWith('essay-process:');
    const there = tJobs({
      store: { ...store, get: (key) => (isLease(key) ? beforeLook() : Promise.resolve()).then(() => get(key)) },
    });
    const { result } = await generate(here);
    const essay = tEssay();
    beforeLook = async () => {
      here.calls[0]?.answer(essay);
      await result;
      await here.jobs.stop();
    };
    expect((await find(there)).state).not.toMatchObject({ kind: 'failed' });
    expect((await find(there)).state).toEqual({ kind: 'finished', essayId: essay.id });
    await there.jobs.stop();
  });

  it('is not deleted while it is sent again', async () => {
    const store = createMemoryStore();
    const [here, there] = [tJobs({ store }), tJobs({ store })];
    const first = await generate(here);
    here.calls[0]?.answer(failed);
    await first.result;
    const { id } = await find(there);
    here.queue();
    const second = await generate(here);
    expect((await find(there)).state).toMatchObject({ kind: 'failed' });
    expect(await there.jobs.delete(id, ann.id)).toBe('not-ended');
    here.leaveQueue();
    await pass(0);
    here.calls[1]?.answer(tEssay());
    await second.result;
    expect(await there.jobs.delete(id, ann.id)).toBe('deleted');
    await Promise.all([here.jobs.stop(), there.jobs.stop()]);
  });

  it('is listed before it may be paid for', async () => {
    const process = tJobs();
    let listed: Promise<EssayOrder[]> | undefined;
    process.beforeSent(() => {
      listed = list(process);
    });
    const { result } = await generate(process);
    expect(await listed).toMatchObject([{ state: { kind: 'writing' } }]);
    process.calls[0]?.answer(tEssay());
    await result;
    await process.jobs.stop();
  });
});

describe('an order with one key', () => {
  it('is one, whether its client waits for it or starts it', async () => {
    const process = tJobs();
    const { result } = await generate(process);
    const started = await process.start('a');
    expect(started).toEqual(await find(process));
    expect(process.jobs.status()).toMatchObject({ running: 0, waiting: 0 });
    process.calls[0]?.answer(tEssay());
    await result;
    expect(await process.start('a')).toMatchObject({ id: started.id, state: { kind: 'finished' } });
    expect(process.calls).toHaveLength(1);
    const different = { ...order, description: 'Pencils', idempotencyKey: 'a' };
    expect(await process.jobs.start(different, ann)).toMatchObject({ kind: 'invalid-input', field: 'idempotencyKey' });
    await process.jobs.stop();
  });

  it('that has failed for its client is started with orderAgain, and listed once', async () => {
    const process = tJobs();
    const { result } = await generate(process);
    process.calls[0]?.answer(failed);
    await result;
    expect((await process.start('a')).state).toEqual({ kind: 'failed', failure: failed });
    const job = await process.start('a', { orderAgain: true });
    expect(process.calls).toHaveLength(2);
    process.calls[1]?.answer(tEssay());
    await pass(0);
    expect(await list(process)).toMatchObject([{ id: job.id, state: { kind: 'finished' } }]);
    await process.jobs.stop();
  });

  it('that has failed as a job shows the essay that its client then waited for', async () => {
    const process = tJobs();
    const job = await process.start('a');
    process.calls[0]?.answer(notSent);
    await pass(0);
    expect(await process.stateOf(job)).toMatchObject({ kind: 'failed' });
    const { result } = await generate(process);
    expect(await process.stateOf(job)).toMatchObject({ kind: 'writing' });
    const essay = tEssay();
    process.calls[1]?.answer(essay);
    await result;
    expect(await process.stateOf(job)).toEqual({ kind: 'finished', essayId: essay.id });
    expect(await list(process)).toHaveLength(1);
    await process.jobs.stop();
  });

  it('that is cancelled after it was sent says so to a client that waits for it', async () => {
    const process = tJobs({ cancelsSent: true });
    const job = await process.start('a');
    const { result } = await generate(process);
    const seen = expect(result).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: 'The order was cancelled after it was sent. It may have been paid for.',
    });
    expect(await process.jobs.cancel(job.id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: true });
    await seen;
    expect(process.fired).toEqual(['cancelled']);
    await process.jobs.stop();
  });

  it('that is cancelled before it was sent is sent for a client that waits for it', async () => {
    const process = tJobs();
    process.queue();
    const job = await process.start('a');
    const { result } = await generate(process);
    expect(await process.jobs.cancel(job.id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: false });
    await pass(0);
    process.leaveQueue();
    await pass(0);
    const essay = tEssay();
    process.calls.at(-1)?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await process.stateOf(job)).toEqual({ kind: 'finished', essayId: essay.id });
    await process.jobs.stop();
  });

  it('remains a job while a client waits for it as well', async () => {
    const process = tJobs({ cancelsSent: true });
    const job = await process.start('a');
    const { result } = await generate(process);
    expect(process.calls).toHaveLength(1);
    expect(process.jobs.status()).toMatchObject({ running: 1 });
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    await pass(0);
    expect(await process.stateOf(job)).toEqual({ kind: 'finished', essayId: essay.id });
    await process.jobs.stop();
  });
});
