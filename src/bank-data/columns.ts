/*
 * Values by slot. A column of numbers is one typed array. A column of objects has pages: a long array would leave a copy of
 * itself in the old generation each time it grows.
 */

/**
 * Number of slots for which new columns of numbers have room: about those of a full cache, unless it is large. Memory that was
 * not written to is not resident. When a column grows, its earlier array stays in memory until the next full collection, and
 * makes that one come sooner.
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
