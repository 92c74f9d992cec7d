import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { ConfigError } from '../base/errors.ts';
import { checkLmdbFile } from '../base/lmdb-file.ts';
import { parseJson } from '../base/parse-json.ts';

/**
 * Reads all entries of the LMDB files in a folder. In processes of their own, because LMDB ends the process that reads a damaged
 * page, and gateways may be using the files.
 * @throws ConfigError that names the damaged files
 */
export async function verifyStore(folder: string) {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.lmdb')) : [];
  const results = await Promise.allSettled(names.map((name) => verifyFile(join(folder, name))));
  const problems = results.flatMap((result) => (result.status === 'rejected' ? result.reason.problems : []));
  if (problems.length > 0) throw new ConfigError(problems);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** @throws ConfigError if the file is damaged */
export async function verifyFile(path: string) {
  const name = basename(path);
  const isStore = name.startsWith('store-');
  // LMDB would create the file that it refers to.
  if (!existsSync(path)) throw new ConfigError([`DATA_DIR: ${path} is a link to a missing file; delete it`]);
  checkLmdbFile(path);
  // LMDB would make a new store of an empty file, and the loss would not be seen any more.
  if (statSync(path).size === 0) return { name, entries: 0 };
  const output = await runScript(isStore ? readAll + compareChecksums : readAll, path);
  const { entries, damaged } = found.safeParse(parseJson(output ?? '')).data ?? { entries: 0, damaged: null };
  if (damaged?.length === 0) return { name, entries };
  const remedy = isStore
    ? 'restore a backup with ledgerquill restore, or begin a new store with `ledgerquill start --new-store`: then essays are ' +
      'ordered and paid for again, and counts begin at 0'
    : 'move the file away, and import the bank lists again';
  const problem = damaged === null ? 'damaged pages' : `damaged entries (${damaged.join(', ')})`;
  throw new ConfigError([`DATA_DIR: ${path} has ${problem}; ${remedy}`]);
}

/** Whether a running process has opened the file, also one in another container. One that is damaged cannot be in use. */
export async function isInUse(path: string): Promise<boolean> {
  try {
    if (!existsSync(path) || statSync(path).size === 0) return false;
    checkLmdbFile(path);
    return (await runScript(findReaders, path)) === 'in use';
  } catch {
    return false;
  }
}

/** @returns what it printed; null if it failed */
async function runScript(script: string, path: string): Promise<string | null> {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  // Damaged pages may refer to each other in a circle.
  const options = { env: {}, timeout: maxReadMs };
  const running = promisify(execFile)(process.execPath, ['-e', script, lmdb, path], options);
  return running.then(({ stdout }) => stdout).catch(() => null);
}

const maxReadMs = 60_000;

/** What `readAll` prints: of each kind with damaged entries, their number, such as `2 counters`. */
const found = z.object({ entries: z.number(), damaged: z.array(z.string()) });

/*
 * In strings, because the source and the bundle have no script in common.
 */

/** Reads each entry in order and by its key, and begins a write, which uses the list of free pages; nothing is changed. */
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
process.on('exit', () => process.stdout.write(JSON.stringify({ entries, damaged })));
let damaged = [];`;

/**
 * Compares each entry of a store with its checksum in the order of expiries. An entry that was replaced before it expired remains in
 * that order.
 */
const compareChecksums = `
const { crc32 } = require('node:zlib');
const store = open({ path: process.argv[2], encoding: 'string', useVersions: true, readOnly: true });
const counts = new Map();
for (const { key, value, version } of store.getRange({ versions: true, snapshot: true })) {
  const [kind, name] = key;
  if (kind === 'expiry') continue;
  const sum = store.get(['expiry', version, kind, name]);
  const isRight = sum === String(crc32(kind + ' ' + name + ' ' + value));
  if (!isRight) counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
const known = ['value', 'counter', 'origin'];
damaged = Array.from(counts, ([kind, count]) => count + ' ' + (known.includes(kind) ? kind : 'unknown'));`;

/** Opens the file without a read. The lock file forgets processes that have ended, so all readers are running. */
const findReaders = `
const { open } = require(process.argv[1]);
const readers = open({ path: process.argv[2] }).readerList();
process.stdout.write(/\\d/.test(readers) ? 'in use' : 'unused');`;
