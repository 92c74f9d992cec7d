import { describe, expect, it, onTestFinished } from 'vitest';
import { createLmdbStore } from '../../../src/stores/lmdb-store.ts';
import { tFailingStore } from '../../failing-store.ts';
import { tFolder } from '../../stores/folder.ts';
import { createMemoryStore } from '../../stores/memory-store.ts';
import { monthHeaders, tAllowance, takeMany, takenOf, takeOne } from './allowance.ts';

function tLmdb(folder: string) {
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  return store;
}

describe('with the embedded store', () => {
  it('has counted a call by the time it may be sent', async () => {
    const store = tLmdb(tFolder());
    const allowance = tAllowance({ store });
    for (let number = 1; number <= 5; number++) {
      await takeOne(allowance);
      expect(await store.add('allowance:essays:2026-11', 0, { expiresInMs: 1 })).toBe(number);
    }
  });

  it('goes on after a restart where it stopped, and keeps to the limit', async () => {
    const folder = tFolder();
    const before = tLmdb(folder);
    await takeMany(tAllowance({ store: before, limit: 10 }), 7);
    await before.close();
    const after = tAllowance({ store: tLmdb(folder), limit: 10 });
    expect(await after.status()).toMatchObject({ used: 7, remaining: 3 });
    expect(takenOf(await takeMany(after, 50))).toHaveLength(3);
  });
});

describe('while the store fails', () => {
  it('counts on in memory, says so once, and adds it when the store works again', async () => {
    const memory = createMemoryStore();
    const failing = tFailingStore(memory);
    const allowance = tAllowance({ store: failing.store, limit: 10 });
    await takeMany(allowance, 4);
    failing.fail();
    await takeMany(allowance, 2);
    (await takeOne(allowance)).giveBack();
    expect(await allowance.status()).toMatchObject({ used: 6, remaining: 4 });
    expect(takenOf(await takeMany(allowance, 20))).toHaveLength(4);
    expect(allowance.told.filter((line) => line.endsWith('not connected'))).toHaveLength(1);
    expect(await tAllowance({ store: memory, limit: 10 }).status()).toMatchObject({ used: 4 });
    failing.work();
    await allowance.settled();
    expect(await tAllowance({ store: memory, limit: 10 }).status()).toMatchObject({ used: 10 });
    failing.fail();
    await allowance.status();
    expect(allowance.told.filter((line) => line.endsWith('not connected'))).toHaveLength(2);
  });

  it('begins at nothing where it failed from the start, and finds the rest when it works', async () => {
    const memory = createMemoryStore();
    await takeMany(tAllowance({ store: memory }), 50);
    const failing = tFailingStore(memory);
    failing.fail();
    const allowance = tAllowance({ store: failing.store });
    (await takeOne(allowance)).learn(monthHeaders(100, 30));
    expect(await allowance.status()).toMatchObject({ used: 70, remaining: 30 });
    const underWay = await takeOne(allowance);
    failing.work();
    expect(await allowance.status()).toMatchObject({ used: 71, remaining: 29 });
    underWay.learn(monthHeaders(100, 25));
    expect(await allowance.status()).toMatchObject({ used: 75, remaining: 25 });
    expect(await tAllowance({ store: memory, limit: 1_000 }).status()).toMatchObject({ used: 52 });
  });
});
