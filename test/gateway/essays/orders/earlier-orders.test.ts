import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EssayResult } from '../../../../src/gateway/essays/port.ts';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { again, order, tEssay, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann, listOrders, tOrders } from '../../../support/gateway/essays/orders.ts';
import { from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { tFolder } from '../../../support/gateway/stores/folder.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';
import { tRedisStore } from '../../../support/gateway/stores/redis-client.ts';
import { tRedis, whyNoRedis } from '../../../support/redis.ts';

/*
 * What a gateway of the version before has stored, dumped from its store two seconds after its process crashed: orders that were started and
 * awaited, one for each end, and one that had no key.
 */

const dump = JSON.parse(
  readFileSync(new URL('../../../support/gateway/essays/earlier-orders.json', import.meta.url), 'utf8'),
) as { values: Record<string, string>; counters: Record<string, number> };

async function load<T extends Store>(store: T): Promise<T> {
  const expiry = { expiresInMs: 86_400_000 };
  for (const [key, value] of Object.entries(dump.values)) {
    const isHeartbeat = key.startsWith('essay-jobs-owner:');
    await store.set(key, value, isHeartbeat ? { expiresInMs: 8_000 } : expiry);
  }
  for (const [key, sum] of Object.entries(dump.counters)) await store.add(key, sum, expiry);
  return store;
}

const ends = {
  finished: { kind: 'finished' },
  refused: { kind: 'failed', failure: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } },
  'timed-out': { kind: 'failed', failure: { code: 'UPSTREAM_TIMED_OUT', outcome: 'unknown' } },
  truncated: { kind: 'failed', failure: { rawText: '{"essay":"Pens hold' } },
  unreadable: { kind: 'failed', failure: { outcome: 'unreadable', rawText: '{"work":{"piece":"Pens."}}' } },
  sent: { kind: 'failed', failure: unknownOutcome },
};
const names = Object.entries(ends).flatMap(([name, end]) =>
  [`started-${name}`, `awaited-${name}`].map((key) => ({ key, end })),
);

describe.each<[string, () => Promise<Store>, string]>([
  ['LMDB', async () => createLmdbStore({ folder: tFolder() }), ''],
  ['Redis', async () => tRedisStore((await tRedis()).url).store, whyNoRedis],
])('the orders of an earlier version in %s', (_, open, why) => {
  it.skipIf(why)(`are found, listed, and returned without a call${why}`, async () => {
    const store = await load(await open());
    onTestFinished(() => store.close());
    const { orders, essays, calls } = tOrders({ store });
    for (const { key, end } of names) {
      const state = (await orders.findByKey(key, ann.id))?.state;
      expect(state, key).toMatchObject(end);
      if (state?.kind !== 'finished') continue;
      const essay = await essays.archive.find(state.essayId, from());
      expect(essay, key).toMatchObject({ kind: 'essay', text: expect.stringMatching(/^(Started|Awaited) pens\.$/) });
      expect(await essays.generate({ ...order, idempotencyKey: key }, from()), key).toEqual(essay);
    }
    expect((await orders.findByKey('started-cancelled', ann.id))?.state).toEqual({
      kind: 'cancelled',
      mayHaveBeenPaid: false,
    });
    expect((await listOrders(orders, {})).entries).toHaveLength(14);
    expect(calls).toEqual([]);
    await orders.stop();
  });
});

describe('an order of an earlier version', () => {
  useFakeTime();
  const keyed = (idempotencyKey: string, changes = {}) => ({ ...order, idempotencyKey, ...changes });

  it.each(['started-timed-out', 'awaited-truncated', 'started-unreadable', 'awaited-sent', 'started-sent'])(
    'that may have been paid for is sent only with consent: %s',
    async (key) => {
      const { generate, calls, start } = tProcess(await load(createMemoryStore()));
      expect(await generate(keyed(key), from())).toMatchObject({ kind: 'service-failed', outcome: expect.any(String) });
      expect(calls).toEqual([]);
      const { result } = await start(keyed(key, { orderAgain: true }));
      const essay = tEssay();
      calls[0]?.answer(essay);
      expect(await result).toEqual(essay);
      expect(await generate(keyed(key), from())).toEqual(essay);
      expect(calls).toHaveLength(1);
    },
  );

  it('that was refused is sent again, and shows its essay', async () => {
    const { orders, essays, calls } = tOrders({ store: await load(createMemoryStore()) });
    const result = essays.generate(keyed('started-refused'), from());
    await pass(0);
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect((await orders.findByKey('started-refused', ann.id))?.state).toMatchObject({ kind: 'finished' });
    await orders.stop();
  });

  it('that waited is not sent because of its age: it has failed, and its client orders again', async () => {
    const { orders, start, stateOf, calls } = tOrders({ store: await load(createMemoryStore()) });
    const ordered = await start('started-queued');
    expect(ordered.state).toEqual({ kind: 'queued', position: 0 });
    await pass(30_000);
    const failure = {
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      message: expect.stringMatching(/earlier version/),
    };
    expect(await stateOf(ordered)).toMatchObject({ kind: 'failed', failure });
    expect(calls).toEqual([]);
    await start('started-queued', { orderAgain: true });
    expect(calls).toHaveLength(1);
    calls[0]?.answer(tEssay());
    await orders.stop();
  });

  it('is deleted with its essay', async () => {
    const store = await load(createMemoryStore());
    const { orders } = tOrders({ store });
    for (const { key } of names) {
      const { id } = (await orders.findByKey(key, ann.id)) ?? { id: '' };
      expect(await orders.delete(id, ann.id), key).toBe('deleted');
      expect(await orders.findByKey(key, ann.id), key).toBeNull();
    }
    expect((await listOrders(orders, {})).entries).toHaveLength(2);
    await orders.stop();
  });
});

describe('beside a gateway of the earlier version', () => {
  useFakeTime();
  const orderKey =
    Object.keys(dump.values).find((key) => key.startsWith('essay-order:') && key.endsWith(':attempt')) ?? '';

  async function tUsedBefore() {
    const store = createMemoryStore();
    await store.set('essay-order-locks', 'set by the earlier version', { expiresInMs: 86_400_000 });
    return store;
  }

  it('an order that is sent is recorded in the form of that version', async () => {
    const store = await tUsedBefore();
    const { set } = store;
    const written = new Map<string, string>();
    store.set = (key, value, expiry) => {
      written.set(key, value);
      return set(key, value, expiry);
    };
    await tProcess(store).write(order);
    const [attempt] = [...written].filter(([key]) => key.endsWith(':attempt'));
    expect(attempt?.[0].length).toBe(orderKey.length);
    expect(JSON.parse(attempt?.[1] ?? '')).toMatchObject({ version: 1, isSent: true, digest: expect.any(String) });
  });

  it('an order that the other one sends is not sent, and can be repeated later', async () => {
    const store = await tUsedBefore();
    const held: string[] = [];
    const { lock } = store;
    store.lock = async (key) => {
      held.push(key);
      return null;
    };
    const { generate, calls, write } = tProcess(store);
    const refused: Partial<EssayResult> = { kind: 'service-failed', retryable: true };
    expect(await generate(order, from())).toMatchObject(refused);
    expect(held).toEqual([expect.stringMatching(/^essay-order:.*:lock$/)]);
    expect(calls).toEqual([]);
    store.lock = lock;
    await write(again);
  });
});
