import { expect, it, vi } from 'vitest';
import { order, tEssay, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { answerAll, from, pass, tDelayed, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* A caller that aborts gets no result: its order rejects at once. */

useFakeTime();

it('does not abort an order that was sent, and the essay is stored', async () => {
  const { orderAndAbort, generate, calls, flush } = tProcess();
  await orderAndAbort(order);
  expect(calls[0]?.context.signal.aborted).toBe(false);
  const again = generate(order, from());
  const essay = await answerAll({ calls }, again);
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

it('does not abort an order that other callers wait for', async () => {
  const { orderAndAbort, generate, calls, queue } = tProcess();
  queue();
  const stays = generate(order, from());
  await orderAndAbort(order);
  await answerAll({ calls }, stays);
  expect(calls).toHaveLength(1);
});

it('completes an order that is aborted while it is recorded as sent', async () => {
  const memory = createMemoryStore();
  const { store, proceed } = tDelayed(memory, /^replace .*"state":\{"kind":"sent"/);
  const { orderAndAbort, calls, flush } = tProcess(store);
  await orderAndAbort(order);
  proceed();
  await pass(0);
  const essay = tEssay();
  calls[0]?.answer(essay);
  await flush();
  expect(await tProcess(memory).generate(order, from())).toEqual(essay);
});

it.each(['flush', 'close'] as const)('%s waits for an order that was sent', async (end) => {
  const process = tProcess();
  await process.orderAndAbort(unkeyed);
  const onEnd = vi.fn();
  const ended = process[end]().then(onEnd);
  await pass(60_000);
  expect(onEnd).not.toHaveBeenCalled();
  process.calls[0]?.answer(tEssay());
  await ended;
  expect(process.fired).toEqual([]);
});
