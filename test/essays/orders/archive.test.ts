import { expect, it, onTestFinished } from 'vitest';
import { withIdempotency } from '../../../src/essays/orders/idempotency.ts';
import { createLmdbStore } from '../../../src/stores/lmdb-store.ts';
import { order, tEssay, tGenerator } from '../../support/essays/generator.ts';
import { tRequestContext } from '../../support/request-context.ts';
import { tFolder } from '../../support/stores/folder.ts';

/* With the embedded store on disk. */

function tProcess(folder: string) {
  const { generator, calls } = tGenerator();
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  const unexpected = () => expect.fail('The store works.');
  const essayOrdered = () => {};
  const failures = { essayWriteBuffered: unexpected, essayLost: unexpected, essayRejectedWithoutStore: unexpected };
  const events = { ...failures, essayOrdered };
  return { ...withIdempotency(generator, { store, onRecovered: () => {}, keepDays: 30, events }), store, calls };
}

/** The call that follows once the lock is on disk. */
async function nextCall({ calls }: Pick<ReturnType<typeof tGenerator>, 'calls'>) {
  while (calls.length === 0) await new Promise(setImmediate);
  return calls[0];
}

it('returns essays from before a restart, by key and by id, without a call', async () => {
  const folder = tFolder();
  const before = tProcess(folder);
  const parallel = Array.from({ length: 50 }, () => before.generate(order, tRequestContext()));
  const essay = tEssay('Ink — 墨, ink.');
  (await nextCall(before))?.answer(essay);
  expect(new Set(await Promise.all(parallel))).toEqual(new Set([essay]));
  expect(before.calls).toHaveLength(1);
  await before.store.close();

  const after = tProcess(folder);
  expect(await after.generate(order, tRequestContext())).toEqual(essay);
  expect(await after.archive.find(essay.id, tRequestContext())).toEqual(essay);
  const different = { ...order, wordCount: 7 };
  expect(await after.generate(different, tRequestContext())).toMatchObject({ field: 'idempotencyKey' });
  expect(after.calls).toHaveLength(0);
});

it('releases the lock on disk when an attempt failed', async () => {
  const folder = tFolder();
  const before = tProcess(folder);
  const first = before.generate(order, tRequestContext());
  const rejected = { kind: 'invalid-input', field: null, message: 'No.', problems: [] } as const;
  (await nextCall(before))?.answer(rejected);
  expect(await first).toEqual(rejected);
  await before.store.close();

  const after = tProcess(folder);
  const second = after.generate(order, tRequestContext());
  (await nextCall(after))?.answer(tEssay());
  expect(await second).toMatchObject({ kind: 'essay' });
});
