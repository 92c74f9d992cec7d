import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { ConfigError } from '../errors.ts';

/** Texts under keys of several parts; the version of each is when it expires. */
export type LmdbFile = RootDatabase<string, (string | number)[]>;

/** Opens a file, or makes it and its folder. @throws ConfigError where that cannot be done */
export function openLmdbFile(path: string): LmdbFile {
  // `require`, because loading it takes 50 ms, and many a gateway never stores anything.
  const { open }: typeof import('lmdb') = require('lmdb');
  try {
    mkdirSync(dirname(path), { recursive: true });
    // Resolved means on the disk, not on its way there: what is kept here was paid for.
    // Without batches per turn, because the promise of a batch that fails, on a full disk, is out of anyone's reach.
    return open({ path, encoding: 'string', useVersions: true, overlappingSync: false, eventTurnBatching: false });
  } catch {
    throw new ConfigError([`DATA_DIR: ${path} cannot be opened for reading and writing`]);
  }
}

const require = createRequire(import.meta.url);

/*
 * The beginning of each of the two meta pages that an LMDB file starts with (struct MDB_page and MDB_meta in mdb.c of
 * lmdb-js). The second follows one page size later, which the first one tells.
 */
const magic = { offset: 24, value: 0xbeefc0de };
const pageSizeOffset = 48;
const rootOffsets = [88, 136];
const transactionOffset = 152;
const metaBytes = 160;
const emptyTree = 0xffff_ffff_ffff_ffffn;

/**
 * Whether there is a file. LMDB maps whatever it is given into memory, and ends the process when it finds there is
 * less of it than it says; so its beginning is checked first. An empty one is just being made by another process.
 * @throws ConfigError where it is damaged or something else
 */
export function hasLmdbFile(path: string): boolean {
  if (!existsSync(path)) return false;
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    throw new ConfigError([`DATA_DIR: ${path} cannot be read`]);
  }
  try {
    if (fstatSync(file).size === 0 || holdsItsRoots(file)) return true;
  } finally {
    closeSync(file);
  }
  throw new ConfigError([`DATA_DIR: ${path} is damaged or was not made by this program; move it away and start again`]);
}

/** Whether the newer of the two meta pages is one, and the roots of its two trees lie within the file. */
function holdsItsRoots(file: number): boolean {
  const first = readMeta(file, 0);
  const second = first && readMeta(file, first.pageSize);
  if (!first || !second) return false;
  const { roots } = first.transaction > second.transaction ? first : second;
  // Only now: another process may be writing, and its file grows before its meta page tells of it.
  const pages = BigInt(Math.floor(fstatSync(file).size / first.pageSize));
  return roots.every((root) => root === emptyTree || root < pages);
}

function readMeta(file: number, position: number) {
  const bytes = Buffer.alloc(metaBytes);
  if (readSync(file, bytes, { position }) < metaBytes || bytes.readUInt32LE(magic.offset) !== magic.value) return null;
  return {
    pageSize: bytes.readUInt32LE(pageSizeOffset),
    transaction: bytes.readBigUInt64LE(transactionOffset),
    roots: rootOffsets.map((offset) => bytes.readBigUInt64LE(offset)),
  };
}
