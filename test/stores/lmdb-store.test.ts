import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { openLmdbFile } from '../../src/stores/lmdb-file.ts';
import { createLmdbStore } from '../../src/stores/lmdb-store.ts';
import { tProcess, tScript } from '../process.ts';
import { tClock } from './clock.ts';
import { tFolder } from './folder.ts';
import { describeStore } from './store-contract.ts';

const hour = { expiresInMs: 3_600_000 };

function tLmdbStore(folder: string, now: () => number = Date.now) {
  const store = createLmdbStore({ folder, now });
  onTestFinished(() => store.close());
  return store;
}

describeStore('the LMDB store', async () => {
  const { now, pass } = tClock();
  const store = tLmdbStore(tFolder(), now);
  return { store, another: () => store, pass };
});

describe('the file of the LMDB store', () => {
  it('is made with the first write, folder and all', async () => {
    const folder = join(tFolder(), 'not', 'there');
    const store = tLmdbStore(folder);
    expect(await store.get('key')).toBeNull();
    expect(await store.add('calls', 0, hour)).toBe(0);
    expect(existsSync(folder)).toBe(false);
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it('holds what it held when it is opened again', async () => {
    const folder = tFolder();
    const before = tLmdbStore(folder);
    await before.set('key', 'value', hour);
    await before.add('calls', 3, hour);
    const lock = await before.lock('essay', hour);
    expect(lock).not.toBeNull();
    await before.close();
    const after = tLmdbStore(folder);
    expect(await after.get('key')).toBe('value');
    expect(await after.add('calls', 1, hour)).toBe(4);
    expect(await after.lock('essay', hour)).toBeNull();
  });

  it('loses what has expired, a few entries with each write', async () => {
    const folder = tFolder();
    const { now, pass } = tClock();
    const store = tLmdbStore(folder, now);
    for (let number = 0; number < 40; number++) await store.set(`value-${number}`, 'x'.repeat(10_000), hour);
    await store.set('kept', 'old', hour);
    await pass(1_800_000);
    await store.set('kept', 'new', hour);
    await pass(1_800_000);
    // 41 expired, at 8 a write.
    for (let write = 0; write < 6; write++) await store.add('calls', 1, hour);
    expect(await store.get('kept')).toBe('new');
    await store.close();
    const file = openLmdbFile(join(folder, 'store-1.lmdb'));
    // The value and the counter, each with the mark of its expiry.
    expect(file.getKeysCount()).toBe(4);
    await file.close();
  });

  async function tWritten(): Promise<string> {
    const folder = tFolder();
    const store = createLmdbStore({ folder });
    for (let number = 0; number < 50; number++) await store.set(`key-${number}`, 'x'.repeat(5_000), hour);
    await store.close();
    return join(folder, 'store-1.lmdb');
  }

  it.each<[string, (path: string) => void]>([
    ['is text', (path) => writeFileSync(path, 'not a store, but somebody else’s file'.repeat(1_000))],
    ['is shorter than a beginning', (path) => truncateSync(path, 20)],
    ['ends after its first page', (path) => truncateSync(path, 4_096)],
    ['ends after its beginning', (path) => truncateSync(path, 8_192)],
    ['is full of zeros', (path) => writeFileSync(path, Buffer.alloc(100_000))],
    ['lost its second page', (path) => writeFileSync(path, Buffer.from(readFileSync(path)).fill(0, 4_096, 8_192))],
  ])('stops the start with a clear sentence where it %s', async (_, damage) => {
    const path = await tWritten();
    damage(path);
    const start = () => createLmdbStore({ folder: join(path, '..') });
    expect(start).toThrow(ConfigError);
    expect(start).toThrow(`DATA_DIR: ${path} is damaged or was not made by this program`);
  });

  it('may find the disk full: the writes that fail say so, and what was written stays', async () => {
    // No file of the process may grow beyond 2 MB (of 512 bytes, or 4 of 1,024: that depends on the shell).
    const limited = [
      '-c',
      'ulimit -f 4000; exec "$0" "$@"',
      process.execPath,
      '--import',
      'tsx',
      'test/stores/filling.ts',
    ];
    const child = tProcess('sh', limited, { FOLDER: tFolder() });
    expect(await child.ended).toEqual({ code: 0, signal: null });
    const { written, kept, reasons } = JSON.parse(child.stdout());
    expect(reasons).toEqual(['StoreError']);
    expect(written).toBeGreaterThan(0);
    expect(kept).toBe(written);
  });

  it('may be empty: another process is just making it', async () => {
    const folder = tFolder();
    writeFileSync(join(folder, 'store-1.lmdb'), '');
    const store = tLmdbStore(folder);
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it('cannot be made where there is a file in the way, which the write says', async () => {
    const folder = join(tFolder(), 'taken');
    writeFileSync(folder, '');
    const store = tLmdbStore(folder);
    await expect(store.set('key', 'value', hour)).rejects.toThrow(ConfigError);
    expect(await store.get('key')).toBeNull();
  });
});

describe('several processes with one LMDB store', () => {
  it('lose none of 1,000 adds, and only one gets the lock', async () => {
    const folder = tFolder();
    const children = [1, 2, 3, 4].map(() => tScript('test/stores/adding.ts', { FOLDER: folder }));
    for (const child of children) expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(await tLmdbStore(folder).add('calls', 0, hour)).toBe(1_000);
    expect(children.map((child) => child.stdout()).sort()).toEqual([
      'locked',
      'not locked',
      'not locked',
      'not locked',
    ]);
  });

  it('see what the other wrote as soon as that was acknowledged', async () => {
    const folder = tFolder();
    const store = tLmdbStore(folder);
    // Opened before the other writes.
    await store.set('key', 'value', hour);
    const child = tScript('test/stores/writing.ts', { FOLDER: folder, ROUND: 'round' });
    for (let number = 1; number <= 20; number++) {
      await child.printed(new RegExp(`^${number}\n`, 'm'));
      expect(await store.get(`round-${number}`)).toBe(`essay ${number}`);
      expect(await store.add('essays', 0, hour)).toBeGreaterThanOrEqual(number);
    }
    await store.set('mine', 'value', hour);
    expect(await store.lock('lock-round', hour)).toBeNull();
  });

  it('lose nothing that was acknowledged when one is killed in the middle of writing', async () => {
    const folder = tFolder();
    const store = tLmdbStore(folder);
    let acknowledged = 0;
    for (let round = 0; round < 10; round++) {
      const child = tScript('test/stores/writing.ts', { FOLDER: folder, ROUND: String(round) });
      await child.printed(new RegExp(`^${5 + round * 7}\n`, 'm'));
      child.kill('SIGKILL');
      expect((await child.ended).signal).toBe('SIGKILL');
      const written = child.stdout().match(/\d+\n/g)?.length ?? 0;
      for (let number = 1; number <= written; number++) {
        expect(await store.get(`${round}-${number}`)).toBe(`essay ${number}`);
      }
      acknowledged += written;
      // The one that was being written when the process was killed may be there, too.
      const counted = await store.add('essays', 0, hour);
      expect(counted - acknowledged).toBeGreaterThanOrEqual(0);
      expect(counted - acknowledged).toBeLessThanOrEqual(round + 1);
      await store.set(`after-${round}`, 'still writable', hour);
    }
  });
});
