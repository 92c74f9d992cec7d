/** The slots for which new columns have room. */
export const firstSlots = 1_024;

/** Copies a column to a longer one. */
export function grow<Column extends Int32Array | Float64Array>(column: Column, minLength: number): Column {
  const Columns = column.constructor as new (length: number) => Column;
  const larger = new Columns(Math.max(minLength, 2 * column.length));
  larger.set(column);
  return larger;
}
