import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { createLmdbStore } from '../../../src/gateway/stores/lmdb-store.ts';
import { openStore } from '../../../src/gateway/stores/open-store.ts';
import { readOrCreateSecret } from '../../../src/gateway/stores/sealed-store.ts';
import { tDisk, tFolder, whyNoMount } from '../../support/gateway/stores/folder.ts';
import { useStoreElsewhere } from '../../support/process.ts';

const hour = { expiresInMs: 3_600_000 };
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function tOpen(folder: string) {
  const { store } = openStore({ redis: null, secret: null }, folder, {
    storeDown() {},
    storeUp() {},
    storeFailed() {},
    storeRisksChanged() {},
  });
  onTestFinished(() => store.close());
  return store;
}

describe('the files of the embedded store', () => {
  it('and their folder belong to their owner only, whatever the umask', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const folder = join(tFolder(), 'data');
    await tOpen(folder).set('key', 'value', hour);
    expect(readdirSync(folder).sort()).toEqual([
      'store-1.lmdb',
      'store-1.lmdb-created',
      'store-1.lmdb-lock',
      'store-secret',
    ]);
    for (const file of readdirSync(folder)) expect([file, modeOf(join(folder, file))]).toEqual([file, '600']);
    expect(modeOf(folder)).toBe('700');
  });

  it('that were copied, and which others can read, are restricted to their owner', async () => {
    const folder = tFolder();
    const before = createLmdbStore({ folder });
    await before.set('key', 'value', hour);
    await before.close();
    const path = join(folder, 'store-1.lmdb');
    chmodSync(path, 0o664);
    const after = createLmdbStore({ folder });
    onTestFinished(() => after.close());
    expect(await after.get('key')).toBe('value');
    expect(modeOf(path)).toBe('600');
  });
});

it.skipIf(!existsSync('/proc/self/maps'))('the file of the embedded store is mapped into memory once', async () => {
  const folder = tFolder();
  const store = tOpen(folder);
  const large = 'x'.repeat(100_000);
  for (let entry = 0; entry < 30; entry += 1) await store.set(`essay ${entry}`, large, hour);
  const path = join(folder, 'store-1.lmdb');
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n');
  expect(maps.filter((line) => line.endsWith(path))).toHaveLength(1);
});

describe('the generated secret', () => {
  it.each([
    ['is empty', ''],
    ['is cut off', 'NQ8fv2Yw'],
  ])('prevents the start with a clear message if it %s', (_, text) => {
    const folder = tFolder();
    const path = join(folder, 'store-secret');
    writeFileSync(path, text);
    const message = `DATA_DIR: ${path} has ${text.length} characters and must have 43`;
    expect(() => tOpen(folder)).toThrow(ConfigError);
    expect(() => tOpen(folder)).toThrow(message);
    expect(() => readOrCreateSecret(folder)).toThrow(message);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('is complete, and the same, for processes that start at the same time', async () => {
    const folder = tFolder();
    const secrets = await Promise.all([1, 2].map(() => useStoreElsewhere('readSecrets', { FOLDER: folder })));
    expect(new Set(secrets).size).toBe(1);
    for (const name of readdirSync(folder)) expect(readdirSync(join(folder, name))).toEqual(['store-secret']);
  });

  it('is not created if the folder is a file', () => {
    const folder = join(tFolder(), 'taken');
    writeFileSync(folder, '');
    expect(() => readOrCreateSecret(folder)).toThrow('DATA_DIR is not writable');
  });
});

describe.skipIf(whyNoMount)(`a disk that is full at the first use of the store${whyNoMount}`, () => {
  it('rejects the write and does not end the process, however little is free', async () => {
    const attempts = JSON.parse(
      await useStoreElsewhere('writeFirst', { FOLDER: tDisk(0), FREE_KB: '0,8,12,16,20,28,36' }),
    );
    expect(attempts).toHaveLength(7);
    for (const [full, empty] of attempts) {
      expect(full).toContain('the disk is full');
      expect(empty).toBe('stored');
    }
  });

  it('is noticed before a commit fails, which LMDB would report past the log', async () => {
    const { written, readable, reasons } = JSON.parse(await useStoreElsewhere('fill', { FOLDER: tDisk(512) }));
    expect({ readable, reasons }).toEqual({ readable: written, reasons: ['StoreError'] });
    expect(written).toBeGreaterThan(0);
  });

  it('leaves no secret that is cut off', () => {
    const folder = tDisk(0);
    expect(() => readOrCreateSecret(folder)).toThrow('DATA_DIR is not writable (ENOSPC)');
    expect(readdirSync(folder)).toEqual(['other']);
    rmSync(join(folder, 'other'));
    expect(readOrCreateSecret(folder)).toHaveLength(43);
  });
});
