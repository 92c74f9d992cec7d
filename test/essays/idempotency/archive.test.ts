import { expect, it, onTestFinished } from 'vitest';
import { withIdempotency } from '../../../src/essays/idempotency/idempotency.ts';
import { createLmdbStore } from '../../../src/stores/lmdb-store.ts';
import { tCaller } from '../../request-context.ts';
import { tFolder } from '../../stores/folder.ts';
import { order, tEssay, tWriter } from '../writer.ts';

/* With the embedded store, on a real disk. */

function tProcess(folder: string) {
  const { essays, calls } = tWriter();
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  return { ...withIdempotency(essays, { store, keepDays: 30 }), store, calls };
}

/** The call arrives once the lock is on the disk. */
async function nextCall({ calls }: Pick<ReturnType<typeof tWriter>, 'calls'>) {
  while (calls.length === 0) await new Promise(setImmediate);
  return calls[0];
}

it('answers after a restart what was written before it, by key and by id, without a call', async () => {
  const folder = tFolder();
  const before = tProcess(folder);
  const parallel = Array.from({ length: 50 }, () => before.generate(order, tCaller()));
  const essay = tEssay('Ink — 墨, ink.');
  (await nextCall(before))?.answer(essay);
  expect(new Set(await Promise.all(parallel))).toEqual(new Set([essay]));
  expect(before.calls).toHaveLength(1);
  await before.store.close();

  const after = tProcess(folder);
  expect(await after.generate(order, tCaller())).toEqual(essay);
  expect(await after.find(essay.id, tCaller())).toEqual(essay);
  expect(await after.generate({ ...order, wordCount: 7 }, tCaller())).toMatchObject({ field: 'idempotencyKey' });
  expect(after.calls).toHaveLength(0);
});

it('frees the key on the disk when an attempt failed', async () => {
  const folder = tFolder();
  const before = tProcess(folder);
  const first = before.generate(order, tCaller());
  const refused = { kind: 'invalid-input', field: null, message: 'No.' } as const;
  (await nextCall(before))?.answer(refused);
  expect(await first).toEqual(refused);
  await before.store.close();

  const after = tProcess(folder);
  const second = after.generate(order, tCaller());
  (await nextCall(after))?.answer(tEssay());
  expect(await second).toMatchObject({ kind: 'essay' });
});
