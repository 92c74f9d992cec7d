import { copyFileSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/* A child process of tests: cuts off copies of a store after each page. Prints how many are refused, and missing values. */

const { FOLDER = '' } = process.env;
const day = { expiresInMs: 86_400_000 };
const keys = Array.from({ length: 60 }, (_, number) => `key-${number}`);
const store = createLmdbStore({ folder: FOLDER });
// Overwritten, so that the trees are not at the end of the file.
for (const length of [9_000, 20, 9_000, 20_000]) {
  for (const key of keys) await store.set(key, 'x'.repeat(length), day);
}
for (const key of keys) await store.set(key, 'y'.repeat(9_000), day);
await store.close();

const path = join(FOLDER, 'store-1.lmdb');
const pageBytes = 4_096;
const pages = statSync(path).size / pageBytes;
let refused = 0;
let missing = 0;
for (let left = pages - 1; left > 0; left--) {
  const folder = join(FOLDER, String(left));
  mkdirSync(folder);
  const copy = join(folder, 'store-1.lmdb');
  copyFileSync(path, copy);
  truncateSync(copy, left * pageBytes);
  try {
    const store = createLmdbStore({ folder });
    for (const key of keys) if ((await store.get(key)) !== 'y'.repeat(9_000)) missing += 1;
    await store.close();
  } catch {
    refused += 1;
  }
}
process.stdout.write(JSON.stringify({ pages, refused, missing }));
