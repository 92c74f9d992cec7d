import { copyFileSync, mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { checkLmdbFile } from '../../src/base/lmdb-file.ts';
import { verifyStore } from '../../src/cli/store.ts';
import { createLmdbStore } from '../../src/gateway/stores/lmdb-store.ts';
import { openStore } from '../../src/gateway/stores/open-store.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tStoreProcess } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const count = 200;
/** More: DAMAGES=10000 npx vitest run test/cli/store.test.ts. */
const damages = Number(process.env.DAMAGES ?? 100);
const pageBytes = 4_096;

/** A store with values of up to several pages. */
async function tStore() {
  const folder = tFolder();
  const events = { storeDown() {}, storeUp() {}, storeFailed() {}, storeRisksChanged() {} };
  const { store } = openStore({ redis: null, secret: null }, folder, events);
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.set(`key-${index}`, `value-${index} `.repeat(1 + (index % 400)), { expiresInMs: 3_600_000 }),
    ),
  );
  await store.close();
  return folder;
}

describe('a store', () => {
  it('is readable, with all of its entries, also while it is used', async () => {
    const folder = await tStore();
    // Each value, and the check value, has an entry in the order of expiries.
    expect(await verifyStore(folder)).toEqual([{ name: 'store-1.lmdb', entries: 2 * (count + 1) }]);
    expect(await verifyStore(join(folder, 'missing'))).toEqual([]);
  });

  it('is damaged if it was cut off, and the message says what to do', async () => {
    const folder = await tStore();
    const path = join(folder, 'store-1.lmdb');
    const whole = readFileSync(path);
    const random = createRandom(7);
    for (let size = 50; size > 0; size -= 1) {
      const kept = 1 + random(whole.length / 2);
      writeFileSync(path, whole.subarray(0, kept));
      await expect(verifyStore(folder)).rejects.toThrow(ConfigError);
      // Verifying changes nothing.
      expect(readFileSync(path).length).toBe(kept);
    }
  });

  it('is damaged if it is empty, unless another process may be creating it', async () => {
    const folder = await tStore();
    const path = join(folder, 'store-1.lmdb');
    truncateSync(path, 0);
    expect(() => checkLmdbFile(path)).not.toThrow();
    expect(await verifyStore(folder)).toEqual([{ name: 'store-1.lmdb', entries: 0 }]);
    expect(readFileSync(path)).toHaveLength(0);
    utimesSync(path, 1, 1);
    await expect(verifyStore(folder)).rejects.toThrow(
      /store-1\.lmdb is damaged .*restore a backup .*`ledgerquill store new`/,
    );
  });

  it.each([
    ['value', 'value-9 value-9'],
    ['counter', '4711'],
  ])('has damaged entries if a %s was changed, and the message says their kind', async (kind, text) => {
    const folder = tFolder();
    const store = createLmdbStore({ folder });
    await store.set('essay', 'value-9 value-9 ', { expiresInMs: 3_600_000 });
    await store.add('calls', 4_711, { expiresInMs: 3_600_000 });
    await store.close();
    const path = join(folder, 'store-1.lmdb');
    const bytes = readFileSync(path);
    // A page may have an earlier copy, which is free.
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes.write('3', at);
    writeFileSync(path, bytes);
    const damage = expect.stringMatching(new RegExp(`has damaged entries \\(1 ${kind}\\); restore a backup`));
    await expect(verifyStore(folder)).rejects.toMatchObject({ message: damage });
    await expect(verifyStore(folder)).rejects.not.toMatchObject({ message: expect.stringContaining(text.slice(1)) });
  });

  it('never ends a gateway, however it was damaged: it is refused, or all that is read is right', async () => {
    const folder = await tStore();
    const seed = Number(process.env.SEED ?? 1);
    const random = createRandom(seed);
    const original = readFileSync(join(folder, 'store-1.lmdb'));
    let refused = 0;
    const accepted: string[] = [];
    for (let damage = 0; damage < damages; damage++) {
      const copy = tFolder();
      mkdirSync(copy, { recursive: true });
      writeFileSync(join(copy, 'store-1.lmdb'), damageFile(original, damage % 4, random));
      copyFileSync(join(folder, 'store-secret'), join(copy, 'store-secret'));
      await verifyStore(copy).then(
        () => accepted.push(copy),
        (error: Error) => {
          expect(error).toBeInstanceOf(ConfigError);
          refused += 1;
        },
      );
    }
    const env = { FOLDERS: accepted.join(':'), COUNT: String(count) };
    const { ended, stdout } = tStoreProcess('use', env);
    expect(await ended, `seed ${seed}, after ${stdout()}`).toEqual({ code: 0, signal: null });
    // LMDB may print a line about a page.
    const right = stdout().match(/^\d+$/gm)?.map(Number) ?? [];
    expect(right).toHaveLength(accepted.length);
    for (const values of right) expect(values).toBeLessThanOrEqual(count);
    const lost = right.reduce((sum, values) => sum + count - values, 0);
    if (process.env.DAMAGES) process.stdout.write(`${JSON.stringify({ refused, accepted: accepted.length, lost })}\n`);
  }, 3_600_000);
});

/** A bit, a page of zeros, two pages in each other's place, or a byte of a page's header. The meta pages are checked elsewhere. */
function damageFile(original: Buffer, kind: number, random: (limit: number) => number): Buffer {
  const bytes = Buffer.from(original);
  const pages = Math.floor(bytes.length / pageBytes);
  const [one, other] = [2 + random(pages - 3), 2 + random(pages - 3)].map((page) => page * pageBytes) as [
    number,
    number,
  ];
  if (kind === 0) {
    const at = one + random(pageBytes);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  } else if (kind === 1) bytes.fill(0, one, one + pageBytes);
  else if (kind === 2) {
    bytes.copy(bytes, one, other, other + pageBytes);
    original.copy(bytes, other, one, one + pageBytes);
  } else bytes[one + random(40)] = random(256);
  return bytes;
}
