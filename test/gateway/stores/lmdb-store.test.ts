import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { openLmdbFile } from '../../../src/base/lmdb-file.ts';
import { createLmdbStore } from '../../../src/gateway/stores/lmdb-store.ts';
import { StoreError } from '../../../src/gateway/stores/store.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { describeStore, tFakeDate } from '../../support/gateway/stores/store-contract.ts';
import { tStoreProcess, useStoreElsewhere } from '../../support/process.ts';

const hour = { expiresInMs: 3_600_000 };
/** More of them: STORE_KILLS=10 npx vitest run test/gateway/stores/lmdb-store.test.ts. */
const kills = Number(process.env.STORE_KILLS ?? 1);

function tLmdbStore(folder: string) {
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  return store;
}

describeStore('the LMDB store', async () => {
  const pass = tFakeDate();
  const store = tLmdbStore(tFolder());
  return { store, another: () => store, pass };
});

describe('the file of the LMDB store', () => {
  it('is created with the first write, and so is its folder', async () => {
    const folder = join(tFolder(), 'not', 'there');
    const store = tLmdbStore(folder);
    expect(await store.get('key')).toBeNull();
    expect((await store.add('calls', 0, hour)).sum).toBe(0);
    expect(existsSync(folder)).toBe(false);
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it('has the same content when it is opened again', async () => {
    const folder = tFolder();
    const before = tLmdbStore(folder);
    await before.set('key', 'value', hour);
    await before.add('calls', 3, hour);
    await before.close();
    const after = tLmdbStore(folder);
    expect(await after.get('key')).toBe('value');
    expect((await after.add('calls', 1, hour)).sum).toBe(4);
  });

  it('keeps what was written before the clock was set forward, until that time has passed', async () => {
    const folder = tFolder();
    const pass = tFakeDate();
    const store = tLmdbStore(folder);
    const day = { expiresInMs: 24 * hour.expiresInMs };
    await store.set('essay', 'paid for', day);
    await store.add('calls', 3, day);
    const before = Date.now();
    vi.setSystemTime(before + 31 * day.expiresInMs);
    // What is written now expires by the clock that is ahead.
    for (let write = 0; write < 6; write += 1) await store.set('sign of life', 'running', hour);
    expect([await store.get('essay'), (await store.add('calls', 1, day)).sum]).toEqual(['paid for', 4]);
    await pass(hour.expiresInMs);
    expect([await store.get('essay'), await store.get('sign of life')]).toEqual(['paid for', null]);
    await pass(22 * hour.expiresInMs);
    expect(await store.get('essay')).toBe('paid for');
    await pass(hour.expiresInMs);
    expect(await store.get('essay')).toBeNull();
    vi.setSystemTime(before + day.expiresInMs);
    expect(await store.get('essay')).toBeNull();
  });

  it('is swept: each write removes a few expired entries', async () => {
    const folder = tFolder();
    const pass = tFakeDate();
    const store = tLmdbStore(folder);
    for (let number = 0; number < 40; number++) await store.set(`value-${number}`, 'x'.repeat(10_000), hour);
    await store.set('fresh', 'old', hour);
    await pass(1_800_000);
    await store.set('fresh', 'new', hour);
    await pass(1_800_000);
    // 41 entries have expired; a write removes 8.
    for (let write = 0; write < 6; write++) await store.add('calls', 1, hour);
    expect(await store.get('fresh')).toBe('new');
    await store.close();
    const file = openLmdbFile(join(folder, 'store-1.lmdb'));
    // The value, the counter and its origin, each with its entry in the expiry index.
    expect(file.getKeysCount()).toBe(6);
    await file.close();
  });

  it.each<[string, (path: string) => void]>([
    ['is text', (path) => writeFileSync(path, 'not a store, but another program’s file'.repeat(1_000))],
    ['is shorter than its header', (path) => truncateSync(path, 20)],
    ['ends after its first page', (path) => truncateSync(path, 4_096)],
    ['ends after its meta pages', (path) => truncateSync(path, 8_192)],
    ['contains only zeros', (path) => writeFileSync(path, Buffer.alloc(100_000))],
    ['has lost its second page', (path) => writeFileSync(path, Buffer.from(readFileSync(path)).fill(0, 4_096, 8_192))],
  ])('prevents the start with a clear message if it %s', async (_, damage) => {
    const folder = tFolder();
    const store = createLmdbStore({ folder });
    for (let number = 0; number < 50; number++) await store.set(`key-${number}`, 'x'.repeat(5_000), hour);
    await store.close();
    const path = join(folder, 'store-1.lmdb');
    damage(path);
    const start = () => createLmdbStore({ folder });
    expect(start).toThrow(ConfigError);
    expect(start).toThrow(`DATA_DIR: ${path} is damaged or was not created by this program`);
  });

  it('prevents the start wherever it was cut off, unless all values can be read', async () => {
    const { pages, refused, missing } = JSON.parse(await useStoreElsewhere('truncate', { FOLDER: tFolder() }));
    expect(missing).toBe(0);
    expect(refused).toBeGreaterThan(pages / 4);
  });

  it('may be shorter than it was, because LMDB does not write pages that are free', async () => {
    const folder = tFolder();
    for (let round = 0; round < 20; round++) {
      const store = createLmdbStore({ folder });
      const lengths = [100_000, 1, 200_000 - 5_000 * round, 1];
      await Promise.all(lengths.map((length) => store.set('key', 'x'.repeat(length), hour)));
      await store.close();
    }
    expect(await tLmdbStore(folder).get('key')).toBe('x');
  });

  it('may be empty: another process is creating it', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'store-1.lmdb'), '');
    const store = tLmdbStore(folder);
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it('cannot be created if the folder is a file: the write rejects', async () => {
    const folder = join(tFolder(), 'taken');
    writeFileSync(folder, '');
    const store = tLmdbStore(folder);
    await expect(store.set('key', 'value', hour)).rejects.toThrow(StoreError);
    expect(await store.get('key')).toBeNull();
  });
});

describe('several processes with one LMDB store', () => {
  it('lose none of 1,000 adds, and only one acquires the lock', async () => {
    const folder = tFolder();
    await Promise.all([1, 2].map(() => useStoreElsewhere('add', { FOLDER: folder })));
    expect((await tLmdbStore(folder).add('calls', 0, hour)).sum).toBe(1_000);
  });

  it('see acknowledged writes of the others at once, and lose none when one is killed while it writes', async () => {
    const folder = tFolder();
    const store = tLmdbStore(folder);
    // Opens the file before the other process writes.
    await store.set('key', 'value', hour);
    let acknowledged = 0;
    for (let round = 0; round < kills; round++) {
      const child = tStoreProcess('write', { FOLDER: folder, ROUND: String(round) });
      for (let number = 1; number <= 15 + round * 7; number++) {
        await child.printed(new RegExp(`^${number}\n`, 'm'));
        expect(await store.get(`${round}-${number}`)).toBe(`essay ${number}`);
        expect((await store.add('essays', 0, hour)).sum).toBeGreaterThanOrEqual(acknowledged + number);
      }
      await store.set('mine', 'value', hour);
      child.kill('SIGKILL');
      expect((await child.ended).signal).toBe('SIGKILL');
      const written = child.stdout().match(/\d+\n/g)?.length ?? 0;
      for (let number = 1; number <= written; number++)
        expect(await store.get(`${round}-${number}`)).toBe(`essay ${number}`);
      acknowledged += written;
      // The write that was in progress when the process was killed may be included.
      const { sum: counted } = await store.add('essays', 0, hour);
      expect(counted - acknowledged).toBeGreaterThanOrEqual(0);
      expect(counted - acknowledged).toBeLessThanOrEqual(round + 1);
      await store.set(`after-${round}`, 'still writable', hour);
    }
  });
});
