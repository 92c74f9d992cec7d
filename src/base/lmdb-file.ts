import { chmodSync, closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
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
  throw new ConfigError([`DATA_DIR: ${path} is damaged or was not created by this program; ${describeRepair(path)}`]);
}

/** What helps if a file in DATA_DIR is damaged. */
export function describeRepair(path: string): string {
  return basename(path).startsWith('store-')
    ? 'restore a backup with ledgerquill restore, or begin a new store with `ledgerquill store new`: then essays are ' +
        'ordered and paid for again, and counts begin at 0'
    : 'move the file away, and import the bank lists again';
}

const maxCreationMs = 60_000;

/** Whether both meta pages are valid, and all pages of the newer one's trees are within the file. */
function isComplete(file: number): boolean {
  return isRightForSome(file, (meta) => {
    // Read after the meta pages, because another process may be writing: the file grows before its meta page changes.
    if (fstatSync(file).size > Number(meta.lastPage) * meta.pageSize) return true;
    // It may be shorter: LMDB does not write pages at the end that the same transaction has freed.
    return isIntact(file, meta);
  });
}

/**
 * Whether all pages are as LMDB needs them: it trusts them, and a wrong one ends the process. The caller has a read transaction, so that
 * other processes do not reuse the pages.
 */
export function hasIntactPages(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    return isRightForSome(file, (meta) => isIntact(file, meta));
  } finally {
    closeSync(file);
  }
}

/** What is wrong may be half written by another process: then the transaction is another one afterwards. */
function isRightForSome(file: number, isRight: (meta: Meta) => boolean): boolean {
  for (let attempt = 1; ; attempt++) {
    const meta = readNewerMeta(file);
    if (meta && isRight(meta)) return true;
    if (attempt === maxAttempts || !meta || readNewerMeta(file)?.transaction === meta.transaction) return false;
  }
}

type Meta = NonNullable<ReturnType<typeof readNewerMeta>>;

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
    trees: rootOffsets.map((offset) => ({
      root: bytes.readBigUInt64LE(offset),
      entries: Number(bytes.readBigUInt64LE(offset - 8)),
      depth: bytes.readUInt16LE(offset - 34),
    })),
  };
}

/*
 * Layout of the two meta pages at the start of an LMDB file (struct MDB_page and MDB_meta in mdb.c of lmdb-js). The
 * second page follows at the page size stated in the first.
 */
const magic = { offset: 24, value: 0xbeefc0de };
const pageSizeOffset = 48;
/** The tree of free pages, and the tree of entries. */
const rootOffsets = [88, 136];
const lastPageOffset = 144;
const transactionOffset = 152;
const metaBytes = 160;
const maxAttempts = 5;

/**
 * Reads both trees without LMDB: each page is within the file, has its own number, and is used once, and each of its nodes is within the
 * page. Layout: struct MDB_page and MDB_node, and that of overflow pages, in mdb.c of lmdb-js.
 */
function isIntact(file: number, { pageSize, trees, lastPage, transaction }: Meta): boolean {
  // Free pages at the end may not be in the file.
  const pages = Number(lastPage) + 1;
  const used = new Set<number>();
  try {
    for (const [index, { root, entries, depth }] of trees.entries()) {
      const found =
        root === emptyTree ? 0 : readTree(Number(root), depth, index === freeTree ? useFreePages : () => {});
      if (found !== entries) return false;
    }
    return true;
  } catch (error) {
    // A damaged page refers to a position beyond its end.
    if (error instanceof RangeError) return false;
    throw error;
  }

  /** @returns the number of entries @throws RangeError if a page is damaged */
  function readTree(page: number, depth: number, useValue: (value: Buffer) => void): number {
    const bytes = takePage(page, depth > 1 ? branchFlag : leafFlag);
    let entries = 0;
    for (const node of nodesOf(bytes)) {
      if (depth > 1) entries += readTree(node.readUIntLE(0, 6), depth - 1, useValue);
      else {
        entries += 1;
        useValue(readValue(node));
      }
    }
    return entries;
  }

  function takePage(page: number, flags: number): Buffer {
    take(page, 1);
    const bytes = read(page, pageSize);
    check(bytes.readUInt16LE(18) === flags);
    return bytes;
  }

  function read(page: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    check(readSync(file, bytes, { position: page * pageSize }) === length);
    check(bytes.readBigUInt64LE(0) === BigInt(page) && bytes.readBigUInt64LE(8) <= transaction);
    return bytes;
  }

  function take(first: number, count: number): void {
    check(first > 1 && first + count <= pages);
    for (let page = first; page < first + count; page++) {
      check(!used.has(page));
      used.add(page);
    }
  }

  /** The value of an entry, which may have pages of its own. */
  function readValue(node: Buffer): Buffer {
    const [size, flags, start] = [node.readUInt32LE(0), node.readUInt16LE(4), 8 + node.readUInt16LE(6)];
    check((flags & ~bigDataFlag) === 0);
    if (flags === 0) {
      check(start + size <= node.length);
      return node.subarray(start, start + size);
    }
    const [first, count] = [Number(node.readBigUInt64LE(start)), Number(node.readBigUInt64LE(start + 16))];
    check(headerBytes + size <= count * pageSize);
    take(first, count);
    return read(first, headerBytes + size).subarray(headerBytes);
  }

  /** Pages, and lengths of blocks of them: 3, 0, -2, 7 has the length of the list, an empty place, and pages 7 and 8. */
  function useFreePages(value: Buffer): void {
    const numbers = new BigInt64Array(new Uint8Array(value).buffer);
    const count = Number(numbers[0]);
    check(count < numbers.length);
    for (let index = 1; index <= count; index++) {
      const number = Number(numbers[index]);
      if (number < 0) take(Number(numbers[++index]), -number);
      else if (number > 0) take(number, 1);
    }
  }
}

const emptyTree = 0xffff_ffff_ffff_ffffn;
const freeTree = 0;

const branchFlag = 0x01;
const leafFlag = 0x02;
const headerBytes = 24;
/** A node with this flag has its value in overflow pages. */
const bigDataFlag = 0x01;

/** The bytes of a page from each of its nodes on. Positions are counted from the end of the header. */
function nodesOf(page: Buffer): Buffer[] {
  const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
  const content = page.subarray(headerBytes);
  check(lower > 0 && lower <= upper);
  return Array.from({ length: lower >> 1 }, (_, index) => {
    const start = content.readUInt16LE(2 * index);
    check(start >= upper && start + 8 + content.readUInt16LE(start + 6) <= content.length);
    return content.subarray(start);
  });
}

/** @throws RangeError */
function check(isRight: boolean): void {
  if (!isRight) throw new RangeError('a page is damaged');
}
