import { describe, expect, it, vi } from 'vitest';
import { tFailingStore } from '../../../support/failing-store.ts';
import { again, order, tEssay, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { answerAll, from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

const rejection = { kind: 'service-failed', code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
/** How long a process looks until another one counts as stopped. */
const foundMs = 4_000;
const lost = 'lost: another process stored an essay of the same order first';

/** A process that can stall, in that it extends nothing, and another one with the same store. */
function tStalling() {
  const memory = createMemoryStore();
  const { store, fail: stall, work: resume } = tFailingStore(memory);
  return { memory, stall, resume, a: tProcess(store), b: tProcess(memory) };
}

/** The first process has an order in its queue. */
async function tQueued() {
  const processes = tStalling();
  processes.a.queue();
  return { ...processes, late: (await processes.a.start()).result };
}

/** The first process has sent an order. */
async function tSent() {
  const processes = tStalling();
  return { ...processes, first: (await processes.a.start()).result };
}

describe('an order in the queue', () => {
  it('returns the essay of another process that has sent it while its own was stalled', async () => {
    const { stall, resume, a, b, late } = await tQueued();
    stall();
    await pass(77_000);
    const essay = await b.write(order, 'Pens hold ink.', foundMs);
    resume();
    a.leaveQueue();
    expect(await late).toEqual(essay);
    expect(a.fired).toEqual([]);
    expect([a.calls, b.calls].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('waits for another process that is sending it after the store lost its data', async () => {
    const { memory, a, b, late } = await tQueued();
    memory.clear();
    const sent = await b.start(order, from(), 3_000);
    a.leaveQueue();
    const essay = await answerAll(b, sent.result);
    await pass(1_000);
    expect(await late).toEqual(essay);
  });

  it('returns the essay of another process that has sent it after the store lost its data', async () => {
    const { memory, a, b, late } = await tQueued();
    memory.clear();
    const sent = await b.start(order, from(), 10_000);
    const essay = await answerAll(b, sent.result);
    a.leaveQueue();
    expect(await late).toEqual(essay);
  });

  it('is sent after the store lost its data, once other processes had time to store their orders again', async () => {
    const { memory, a, late } = await tQueued();
    memory.clear();
    a.leaveQueue();
    await pass(2_999);
    expect(a.calls[0]?.context.usage.upstreamCalls).toBe(0);
    await pass(1_001);
    expect(a.calls[0]?.context.usage.upstreamCalls).toBe(1);
    await answerAll(a, late);
    expect(a.fired).toEqual([]);
  });

  it('is rejected if the store loses its data again and again', async () => {
    const { memory, a, late } = await tQueued();
    memory.clear();
    a.leaveQueue();
    for (let losses = 0; losses < 5; losses += 1) {
      await pass(2_000);
      memory.clear();
    }
    expect(await late).toMatchObject(rejection);
    expect(a.fired).toEqual(['rejected']);
  });

  it('is not sent while the store fails, and can be sent again later', async () => {
    const { stall, resume, a, late } = await tQueued();
    stall();
    a.leaveQueue();
    expect(await late).toMatchObject(rejection);
    resume();
    await pass(30_000);
    const again = await a.start();
    a.leaveQueue();
    await pass(0);
    a.calls[1]?.answer(tEssay());
    expect(await again.result).toMatchObject({ kind: 'essay' });
  });

  it('is sent after any time in it', async () => {
    const { a, b, late } = await tQueued();
    const second = await b.start(order, from(), 110_000);
    a.leaveQueue();
    await pass(0);
    await answerAll(a, late, second.result);
    expect(b.calls).toHaveLength(0);
  });
});

it('an order is not sent if its process stalls between the last check and the call', async () => {
  const { stall, resume, a, b } = tStalling();
  a.beforeSent(() => {
    stall();
    vi.advanceTimersByTime(31_000);
  });
  expect(await a.generate(order, from())).toMatchObject(rejection);
  expect(a.calls).toHaveLength(0);
  resume();
  await a.flush();
  await b.write(order);
});

describe('an order that was sent', () => {
  // After 10 s, its lock has been acquired again.
  it.each([0, 1_999, 10_000])('is not sent by another process %i ms after the store lost its data', async (afterMs) => {
    const { memory, a, b, first } = await tSent();
    memory.clear();
    await pass(afterMs);
    const second = await b.start(order, from(), 40_000);
    await answerAll(a, first, second.result);
    expect(b.calls).toHaveLength(0);
  });

  it('is not sent either if a third process was the first to notice the loss', async () => {
    const { memory, a, b, first } = await tSent();
    const third = tProcess(memory);
    await pass(0);
    memory.clear();
    const other = await third.start({ ...order, idempotencyKey: 'form-2' });
    const second = await b.start(order, from(), 10_000);
    await answerAll(a, first, second.result);
    await answerAll(third, other.result);
    expect(b.calls).toHaveLength(0);
  });

  it('is not sent either if the other process was started after the store lost its data', async () => {
    const { memory, a, first } = await tSent();
    memory.clear();
    const started = tProcess(memory, { isNew: true });
    const second = await started.start(order, from(), 10_000);
    await answerAll(a, first, second.result);
    expect(started.calls).toHaveLength(0);
  });

  it('is not sent by another process after a restart of an empty store, whichever reconnects first', async () => {
    const { memory, stall, resume, a, b, first } = await tSent();
    stall();
    memory.clear();
    b.recover();
    const second = await b.start(order, from(), 2_000);
    resume();
    a.recover();
    await pass(40_000);
    await answerAll(a, first, second.result);
    expect(b.calls).toHaveLength(0);
  });

  it('is not sent by another process if it was answered while the store was down', async () => {
    const { memory, stall, resume, a, b, first } = await tSent();
    stall();
    memory.clear();
    const essay = tEssay();
    a.calls[0]?.answer(essay);
    expect(await first).toEqual(essay);
    b.recover();
    const second = b.generate(order, from());
    resume();
    a.recover();
    await pass(3_000);
    expect(await second).toEqual(essay);
    expect(b.calls).toHaveLength(0);
  });

  it('is reported to another process while its own process is stalled, and its essay is returned later', async () => {
    const { stall, resume, a, b, first } = await tSent();
    stall();
    await pass(31_000);
    const waiting = await b.start(order, from(), foundMs);
    expect(await waiting.result).toEqual(unknownOutcome);
    resume();
    const essay = await answerAll(a, first);
    expect(await b.generate(order, from())).toEqual(essay);
    expect(b.calls).toHaveLength(0);
  });

  it('does not replace the essay of another process that took over, and returns it', async () => {
    const { memory, stall, resume, a, b, first } = await tSent();
    stall();
    await pass(31_000);
    const essay = await b.write(again, 'Pens hold ink.', foundMs);
    resume();
    a.calls[0]?.answer(tEssay('Late.'));
    expect(await first).toEqual(essay);
    expect(a.fired).toEqual([lost]);
    expect(await tProcess(memory).generate(order, from())).toEqual(essay);
    expect(await b.find(essay.id, from())).toEqual(essay);
  });

  it('does not replace it later either, if its write was buffered', async () => {
    const { memory, stall, resume, a, b, first } = await tSent();
    stall();
    await pass(31_000);
    a.calls[0]?.answer(tEssay('Late.'));
    expect(await first).toMatchObject({ text: 'Late.' });
    const essay = await b.write(again, 'Pens hold ink.', foundMs);
    resume();
    await a.flush();
    expect(a.fired).toEqual(['buffered: not connected', lost]);
    expect(await tProcess(memory).generate(order, from())).toEqual(essay);
  });

  it('keeps its essay by id if another process used the key for a different order after the store lost its data', async () => {
    const { memory, stall, resume, a, b, first } = await tSent();
    stall();
    memory.clear();
    const different = { ...order, wordCount: 5 };
    const second = await b.start(different, from(), 3_000);
    const other = await answerAll(b, second.result);
    resume();
    const essay = tEssay('Late.');
    a.calls[0]?.answer(essay);
    expect(await first).toEqual(essay);
    expect(await tProcess(memory).find(essay.id, from())).toEqual(essay);
    expect(await tProcess(memory).generate(different, from())).toEqual(other);
    expect(a.fired).toEqual([]);
  });
});
