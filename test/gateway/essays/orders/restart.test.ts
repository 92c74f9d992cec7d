import { expect, it, onTestFinished } from 'vitest';
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
  // The call follows once the order is recorded as sent.
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
  expect(await after.generate(different, from())).toMatchObject({ problems: [{ field: 'idempotencyKey' }] });
  expect(after.calls).toHaveLength(0);
});
