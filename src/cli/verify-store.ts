import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../base/errors.ts';
import { checkLmdbFile } from '../base/lmdb-file.ts';

/**
 * Reads all entries of the LMDB files in a folder. In processes of their own, because LMDB ends the process that reads a damaged
 * page, and gateways may be using the files. Values that were changed are found by their encryption when they are used.
 * @throws ConfigError that names the damaged files
 */
export async function verifyStore(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.lmdb')) : [];
  const results = await Promise.allSettled(names.map((name) => verifyFile(folder, name)));
  const problems = results.flatMap((result) => (result.status === 'rejected' ? result.reason.problems : []));
  if (problems.length > 0) throw new ConfigError(problems);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

async function verifyFile(folder: string, name: string) {
  const path = join(folder, name);
  // LMDB would create the file that it refers to.
  if (!existsSync(path)) throw new ConfigError([`DATA_DIR: ${path} is a link to a missing file; delete it`]);
  checkLmdbFile(path);
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  // Damaged pages may refer to each other in a circle.
  const options = { env: {}, timeout: maxReadMs };
  const reading = promisify(execFile)(process.execPath, ['-e', readAll, lmdb, path], options);
  const output = await reading.catch(() => null);
  if (output !== null) return { name, entries: Number(output.stdout) };
  const remedy = name.startsWith('store-')
    ? 'restore a backup with ledgerquill restore, or move the file away and start again: then essays are ordered and paid for ' +
      'again, and counts begin at 0'
    : 'move the file away, and import the bank lists again';
  throw new ConfigError([`DATA_DIR: ${path} has damaged pages; ${remedy}`]);
}

const maxReadMs = 60_000;

/**
 * Reads each entry in order and by its key, and begins a write, which uses the list of free pages; nothing is changed. In a string,
 * because the source and the bundle have no script in common.
 */
const readAll = `
const { open, ABORT } = require(process.argv[1]);
const file = open({ path: process.argv[2], encoding: 'binary', keyEncoding: 'binary' });
let entries = 0;
for (const { key } of file.getRange({})) {
  if (file.get(Buffer.from(key)) === undefined) throw new Error('an entry is not found by its key');
  entries += 1;
}
file.transactionSync(() => {
  file.putSync(Buffer.from('verify'), Buffer.alloc(20_000));
  return ABORT;
});
process.stdout.write(String(entries));`;
