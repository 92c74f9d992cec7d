import { fstatSync, readSync } from 'node:fs';

/**
 * Whether all pages of these trees are within the file. Reads only the pages that refer to others; needs no LMDB.
 * Layout: struct MDB_page and MDB_node in mdb.c of lmdb-js.
 */
export function hasAllPages(file: number, roots: readonly bigint[], pageSize: number): boolean {
  try {
    return checkTrees(file, roots, pageSize);
  } catch (error) {
    // A damaged page refers to a position beyond its end.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function checkTrees(file: number, roots: readonly bigint[], pageSize: number): boolean {
  const pages = Math.floor(fstatSync(file).size / pageSize);
  const pending = roots.filter((root) => root !== emptyTree).map(Number);
  let visited = 0;
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
}

const emptyTree = 0xffff_ffff_ffff_ffffn;

const branchFlag = 0x01;
const leafFlag = 0x02;
const headerBytes = 24;
/** Of a node: its value is in overflow pages. */
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
