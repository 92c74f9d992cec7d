import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';

/*
 * Run as a process, with a disk in FOLDER that its file `other` fills. For each number of FREE_KB, creates a store with so much free
 * space, and again on the empty disk. Prints for both why that failed, or "stored".
 */

const { FOLDER = '', FREE_KB = '' } = process.env;
const other = join(FOLDER, 'other');

async function writeFirst(folder: string): Promise<string> {
  const store = createLmdbStore({ folder });
  const reason = await store.set('key', 'value', { expiresInMs: 60_000 }).then(
    () => 'stored',
    (error: Error) => error.message,
  );
  await store.close();
  return reason;
}

const attempts: string[][] = [];
for (const freeKb of FREE_KB.split(',').map(Number)) {
  for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name), { recursive: true });
  const { bavail, bsize } = statfsSync(FOLDER);
  writeFileSync(other, Buffer.alloc(bavail * bsize - freeKb * 1_024));
  const full = await writeFirst(FOLDER);
  rmSync(other);
  attempts.push([full, await writeFirst(FOLDER)]);
}
process.stdout.write(JSON.stringify(attempts));
