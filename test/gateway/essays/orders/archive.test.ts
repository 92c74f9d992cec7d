import { expect, it, onTestFinished } from 'vitest';
import type { Essay, EssayOrder } from '../../../../src/gateway/essays/essays.ts';
import { createArchive, toOrderKey } from '../../../../src/gateway/essays/orders/order-record.ts';
import { createDurableWrites } from '../../../../src/gateway/essays/orders/durable-writes.ts';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';
import { order, tEssay } from '../../../support/gateway/essays/generator.ts';
import { from, tProcess } from '../../../support/gateway/essays/processes.ts';
import { tFolder } from '../../../support/gateway/stores/folder.ts';

/* With the embedded store on disk. */

function tStored(folder: string) {
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  return { store, ...tProcess(store) };
}

it('returns essays from before a restart, by key and by id, without a call', async () => {
  const folder = tFolder();
  const before = tStored(folder);
  const parallel = Array.from({ length: 50 }, () => before.generate(order, from()));
  const essay = tEssay('Ink — 墨, ink.');
  // The call follows once the lock is on disk.
  while (before.calls.length === 0) await new Promise(setImmediate);
  before.calls[0]?.answer(essay);
  expect(new Set(await Promise.all(parallel))).toEqual(new Set([essay]));
  expect(before.calls).toHaveLength(1);
  expect(before.fired).toEqual([]);
  await before.store.close();

  const after = tStored(folder);
  expect(await after.generate(order, from())).toEqual(essay);
  expect(await after.find(essay.id, from())).toEqual(essay);
  const different = { ...order, wordCount: 7 };
  expect(await after.generate(different, from())).toMatchObject({ field: 'idempotencyKey' });
  expect(after.calls).toHaveLength(0);
});

/** Stores an essay as an earlier release did. */
async function storeEssay(folder: string, essay: Essay, order: EssayOrder) {
  const store = createLmdbStore({ folder });
  const { callerId } = from();
  const events = { essayLost: () => {}, essayWriteBuffered: () => {} };
  const writes = createDurableWrites({ store, expiresInMs: 1e9, events });
  await createArchive({ store, writes, expiresInMs: 1e9, events }).save(essay, toOrderKey(order, callerId), callerId);
  await store.close();
}

it.each(['DRAFTER', 'MODEL', 'SERVICE'] as const)(
  'returns the stored text that was delivered as an essay, whatever it says: %s',
  async (writer) => {
    const folder = tFolder();
    const essay = { ...tEssay('Access denied: please try again later.'), writer };
    await storeEssay(folder, essay, order);
    const after = tStored(folder);
    expect(await after.generate(order, from())).toEqual(essay);
    expect(await after.find(essay.id, from())).toEqual(essay);
    expect(after.calls).toHaveLength(0);
  },
);
