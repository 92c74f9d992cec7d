import { expect, it } from 'vitest';
import { order, tEssay, truncated, unkeyed } from '../../support/essays/generator.ts';
import { answerAll, dayMs, from, pass, tDelayed, tProcess, useFakeTime } from '../../support/essays/processes.ts';
import { createMemoryStore } from '../../support/stores/memory-store.ts';

/* A caller that aborts gets no result: its order rejects at once. */

useFakeTime();

it('does not abort an order that was sent, and the essay is stored', async () => {
  const { orderAndAbort, generate, calls, flush } = tProcess();
  await orderAndAbort(order);
  expect(calls[0]?.context.signal.aborted).toBe(false);
  const again = generate(order, from());
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await again).toEqual(essay);
  await flush();
  expect(await generate(order, from())).toEqual(essay);
  expect(calls).toHaveLength(1);
});

it('aborts an order that was not sent, whatever else its request has called', async () => {
  const { orderAndAbort, start, generate, calls, queue } = tProcess();
  queue();
  const context = from();
  context.usage.upstreamCalls = 7;
  await orderAndAbort(order, { context });
  expect(calls[0]?.context.signal.aborted).toBe(true);
  const again = await start(order, from(), 200);
  const essay = tEssay();
  calls[1]?.answer(essay);
  expect(await again.result).toEqual(essay);
  expect(await generate(order, from())).toEqual(essay);
  expect(calls).toHaveLength(2);
});

it('stops waiting for another process, without a lock', async () => {
  const store = createMemoryStore();
  const [a, b] = [tProcess(store), tProcess(store)];
  const first = await a.start();
  await b.orderAndAbort(order, { afterMs: 3_300 });
  await b.flush();
  await answerAll(a, first.result);
  expect(b.calls).toHaveLength(0);
});

it('releases a lock that is acquired afterwards', async () => {
  const memory = createMemoryStore();
  const { store, proceed } = tDelayed(memory, 'lock');
  const late = tProcess(store);
  await late.orderAndAbort(order);
  proceed();
  await late.flush();
  expect(late.calls).toHaveLength(0);
  await tProcess(memory).write(order);
});

it('does not abort an order that other callers wait for', async () => {
  const { orderAndAbort, generate, calls, queue } = tProcess();
  queue();
  const stays = generate(order, from());
  await orderAndAbort(order);
  await answerAll({ calls }, stays);
  expect(calls).toHaveLength(1);
});

it('starts nothing when the caller had aborted before', async () => {
  const { generate, calls } = tProcess();
  await expect(generate(order, from('ann', AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
  await pass(0);
  expect(calls).toHaveLength(0);
});

it('stores raw text that was paid for until the order is sent again, and returns it once', async () => {
  const { orderAndAbort, generate, calls, write, flush } = tProcess();
  await orderAndAbort(order);
  calls[0]?.answer(truncated);
  await flush();
  await pass(29 * dayMs);
  expect(await generate(order, from())).toEqual(truncated);
  expect(calls).toHaveLength(1);
  await write(order);
  expect(calls).toHaveLength(2);
});

it.each(['flush', 'close'] as const)('%s waits for an order that was sent', async (end) => {
  const process = tProcess();
  await process.orderAndAbort(unkeyed);
  let hasEnded = false;
  const ended = process[end]().then(() => {
    hasEnded = true;
  });
  await pass(60_000);
  expect(hasEnded).toBe(false);
  process.calls[0]?.answer(tEssay());
  await ended;
  expect(process.fired).toEqual([]);
});
