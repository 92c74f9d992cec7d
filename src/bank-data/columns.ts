/*
 * Values by slot. The numbers of a column are in one array, whose growth is no work for the garbage collector. Its objects
 * are in pages: a long array would leave a copy in the old generation each time it grows.
 */

/**
 * Number of slots for which new columns of numbers have room: those of a full cache, unless it is large. Memory that is not
 * written to yet is not resident, and a column that grows is garbage until the next full collection, which it brings nearer.
 * @returns a power of two
 */
export function slotsFor(maxEntries: number): number {
  return 2 ** Math.floor(Math.log2(Math.min(Math.max(maxEntries, minSlots), maxSlots)));
}

const minSlots = 1_024;
const maxSlots = 131_072;

/** Copies a column to one that is at least twice as long. */
export function grow<Column extends Int32Array | Float64Array>(column: Column, minLength = 0): Column {
  const Columns = column.constructor as new (length: number) => Column;
  const larger = new Columns(Math.max(minLength, 2 * column.length));
  larger.set(column);
  return larger;
}

/** A column of objects or texts. */
export class PagedColumn<Value> {
  readonly #pages: (Value | null)[][] = [];

  /** Null if none was set. */
  at(slot: number): Value | null {
    return this.#pages[slot >> pageBits]?.[slot & pageMask] ?? null;
  }

  set(slot: number, value: Value | null): void {
    const page = slot >> pageBits;
    while (page >= this.#pages.length) this.#pages.push(new Array(pageSize).fill(null));
    (this.#pages[page] as (Value | null)[])[slot & pageMask] = value;
  }
}

const pageBits = 10;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;
