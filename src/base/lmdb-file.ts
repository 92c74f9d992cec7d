import { chmodSync, closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RootDatabase } from 'lmdb';
import { checkFreeSpace, createFile } from './data-folder.ts';
import { ConfigError, errorCodeOf } from './errors.ts';

/** Strings by composite key; the version of an entry is its expiry. */
export type LmdbFile = RootDatabase<string, (string | number)[]>;

/** Opens a file, and creates it and its folder if missing. @throws ConfigError if it is damaged or not accessible */
export function openLmdbFile(path: string): LmdbFile {
  checkLmdbFile(path);
  // Loaded on first use: it takes 50 ms, and many gateways never store anything.
  const { open }: typeof import('lmdb') = require('lmdb');
  try {
    // A file that was copied may be one that other users can read.
    createLmdbFiles(path, 0o600);
    // Without overlappingSync, a write resolves when it is on disk. eventTurnBatching is off, because the promise of its
    // batch rejects where it cannot be handled, for example on a full disk.
    const writes = { overlappingSync: false, eventTurnBatching: false };
    const file = open<string, (string | number)[]>({ path, encoding: 'string', useVersions: true, mapSize, ...writes });
    // The first read makes the process a reader in the lock file, where other processes see it until it ends.
    file.get(['']);
    return file;
  } catch (error) {
    const reason = errorCodeOf(error) === 'ENOSPC' ? ': the disk is full; free at least 500 kB' : '';
    throw new ConfigError([`DATA_DIR: ${path} cannot be opened for reading and writing${reason}`]);
  }
}

/**
 * Address space in bytes. When a file outgrows its map, LMDB keeps the old map, with the pages that were read in it, beside a
 * larger one. It would begin with 128 KiB, and double that with the file.
 */
const mapSize = 2 ** 30;

/**
 * On a full disk, LMDB would crash the process while it creates its files: it maps the lock file into memory, and does
 * not expect that its first pages cannot be written. An empty data file is valid. @throws a file system error
 */
export function createLmdbFiles(path: string, mode: number): void {
  for (const [file, bytes] of [
    [path, 0],
    [`${path}-lock`, lockFileBytes],
  ] as const) {
    createFile(file, Buffer.alloc(bytes));
    chmodSync(file, mode);
  }
  if (statSync(path).size === 0) checkFreeSpace(path, firstPagesBytes);
}

/** Two meta pages and the first pages of data. */
const firstPagesBytes = 32_768;
/** The size that LMDB gives the file for its 126 readers. */
const lockFileBytes = 8_272;

const require = createRequire(import.meta.url);

/**
 * LMDB maps a file into memory and crashes the process if it is shorter than its header states, so the header is checked
 * first. A missing file is valid, and a new one that is empty: another process may be creating it. @throws ConfigError if it is
 * damaged
 */
export function checkLmdbFile(path: string): void {
  if (!existsSync(path)) return;
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    throw new ConfigError([`DATA_DIR: ${path} cannot be read`]);
  }
  try {
    const { size, mtimeMs } = fstatSync(file);
    if (size === 0 ? Date.now() - mtimeMs < maxCreationMs : isComplete(file)) return;
  } finally {
    closeSync(file);
  }
  throw new ConfigError([
    `DATA_DIR: ${path} is damaged or was not created by this program; move it away and start again`,
  ]);
}

const maxCreationMs = 60_000;

/** Whether both meta pages are valid, and all pages of the newer one's trees are within the file. */
function isComplete(file: number): boolean {
  for (let attempt = 1; ; attempt++) {
    const meta = readNewerMeta(file);
    if (!meta) return false;
    // Read after the meta pages, because another process may be writing: the file grows before its meta page changes.
    if (fstatSync(file).size > Number(meta.lastPage) * meta.pageSize) return true;
    // It may be shorter: LMDB does not write pages at the end that the same transaction has freed.
    if (hasAllPages(file, meta.roots, meta.pageSize)) return true;
    // Another process may have reused pages meanwhile.
    if (attempt === maxAttempts || readNewerMeta(file)?.transaction === meta.transaction) return false;
  }
}

function readNewerMeta(file: number) {
  const first = readMeta(file, 0);
  const second = first && readMeta(file, first.pageSize);
  return second && (first.transaction > second.transaction ? first : second);
}

function readMeta(file: number, position: number) {
  const bytes = Buffer.alloc(metaBytes);
  if (readSync(file, bytes, { position }) < metaBytes || bytes.readUInt32LE(magic.offset) !== magic.value) return null;
  return {
    pageSize: bytes.readUInt32LE(pageSizeOffset),
    lastPage: bytes.readBigUInt64LE(lastPageOffset),
    transaction: bytes.readBigUInt64LE(transactionOffset),
    roots: rootOffsets.map((offset) => bytes.readBigUInt64LE(offset)),
  };
}

/*
 * Layout of the two meta pages at the start of an LMDB file (struct MDB_page and MDB_meta in mdb.c of lmdb-js). The
 * second page follows at the page size stated in the first.
 */
const magic = { offset: 24, value: 0xbeefc0de };
const pageSizeOffset = 48;
const rootOffsets = [88, 136];
const lastPageOffset = 144;
const transactionOffset = 152;
const metaBytes = 160;
const maxAttempts = 5;

/**
 * Whether all pages of these trees are within the file. Reads only the pages that refer to others; needs no LMDB.
 * Layout: struct MDB_page and MDB_node in mdb.c of lmdb-js.
 */
function hasAllPages(file: number, roots: readonly bigint[], pageSize: number): boolean {
  const pages = Math.floor(fstatSync(file).size / pageSize);
  const pending = roots.filter((root) => root !== emptyTree).map(Number);
  let visited = 0;
  try {
    for (let page = pending.pop(); page !== undefined; page = pending.pop()) {
      // More visits than pages: a page refers back to an earlier one.
      if (page >= pages || visited++ > pages) return false;
      const bytes = readPage(file, page, pageSize);
      const flags = bytes.readUInt16LE(18);
      if (flags & branchFlag) pending.push(...nodesOf(bytes).map(childOf));
      else if (!(flags & leafFlag)) return false;
      else if (nodesOf(bytes).some((node) => overflowEnd(file, node, pageSize, pages) > pages)) return false;
    }
    return true;
  } catch (error) {
    // A damaged page refers to a position beyond its end.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const emptyTree = 0xffff_ffff_ffff_ffffn;

const branchFlag = 0x01;
const leafFlag = 0x02;
const headerBytes = 24;
/** A node with this flag has its value in overflow pages. */
const bigDataFlag = 0x01;

function readPage(file: number, page: number, pageSize: number): Buffer {
  const bytes = Buffer.alloc(pageSize);
  readSync(file, bytes, { position: page * pageSize });
  return bytes;
}

/** The bytes of a page from each of its nodes on. Positions are counted from the end of the header. */
function nodesOf(page: Buffer): Buffer[] {
  const content = page.subarray(headerBytes);
  const count = page.readUInt16LE(20) >> 1;
  return Array.from({ length: count }, (_, index) => content.subarray(content.readUInt16LE(2 * index)));
}

function childOf(node: Buffer): number {
  return node.readUIntLE(0, 6);
}

/** The page after the overflow pages of a leaf node; 0 if it has none. */
function overflowEnd(file: number, node: Buffer, pageSize: number, pages: number): number {
  if (!(node.readUInt16LE(4) & bigDataFlag)) return 0;
  const first = Number(node.readBigUInt64LE(8 + node.readUInt16LE(6)));
  if (first >= pages) return Number.POSITIVE_INFINITY;
  return first + readPage(file, first, pageSize).readUInt32LE(20);
}
