import { expect, it } from 'vitest';
import { createDurableWrites } from '../../../../src/gateway/essays/orders/durable-writes.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { tFailingStore } from '../../../support/failing-store.ts';
import { pass, tDelayed, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

function tWrites(wrap = (store: Store) => store) {
  const memory = createMemoryStore();
  const { store, fail, work } = tFailingStore(memory);
  const fired: string[] = [];
  const writes = createDurableWrites({
    store: wrap(store),
    expiresInMs: 86_400_000,
    events: {
      essayWriteBuffered: (reason) => fired.push(`buffered: ${reason}`),
      essayLost: (reason) => fired.push(`lost: ${reason}`),
    },
  });
  return { ...writes, memory, fail, work, fired };
}

it('buffers 2,000 essays; with each further one the oldest is lost, and reported', async () => {
  const { write, getBuffered, flush, memory, fail, work, fired } = tWrites();
  fail();
  for (let i = 1; i <= 2_000; i += 1) await write({ [`id ${i}`]: 'reference', [`order ${i}`]: 'essay' });
  expect(fired).toEqual(['buffered: not connected']);
  expect(getBuffered('order 1')).toBe('essay');
  await write({ 'order 2001': 'essay' });
  expect(fired).toEqual(['buffered: not connected', 'lost: not connected']);
  expect([getBuffered('order 1'), getBuffered('id 1')]).toEqual([null, null]);
  work();
  await flush();
  expect(await memory.get('order 1')).toBeNull();
  expect(await memory.get('order 2')).toBe('essay');
  expect(await memory.get('id 2')).toBe('reference');
  expect(await memory.get('order 2001')).toBe('essay');
});

it('retries every five seconds, and reports each outage once', async () => {
  const { write, getBuffered, memory, fail, work, fired } = tWrites();
  for (const outage of ['first', 'second']) {
    fail();
    await write({ [outage]: 'essay' });
    await write({ [`${outage}, later`]: 'essay' });
    await pass(14_000);
    work();
    expect(await memory.get(outage)).toBeNull();
    await pass(1_000);
    expect(await memory.get(outage)).toBe('essay');
    expect(await memory.get(`${outage}, later`)).toBe('essay');
    expect(getBuffered(outage)).toBeNull();
  }
  expect(fired).toEqual(['buffered: not connected', 'buffered: not connected']);
});

it('does not report a write as lost that a retry in flight then completes', async () => {
  let isDelayed = false;
  let proceed = () => {};
  const { write, flush, discard, memory, fail, work, fired } = tWrites((store) => {
    const delayed = tDelayed(store, 'set');
    proceed = delayed.proceed;
    return { ...store, set: (...args) => (isDelayed ? delayed.store : store).set(...args) };
  });
  fail();
  await write({ order: 'essay' });
  work();
  isDelayed = true;
  await pass(5_000);
  const flushed = flush();
  proceed();
  await flushed;
  discard();
  expect(await memory.get('order')).toBe('essay');
  expect(fired).toEqual(['buffered: not connected']);
});
