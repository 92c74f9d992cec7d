/** Number of slots for which new columns have room. */
export const initialSlots = 1_024;

/** Copies a column to one that is at least twice as long. */
export function grow<Column extends Int32Array | Float64Array>(column: Column, minLength = 0): Column {
  const Columns = column.constructor as new (length: number) => Column;
  const larger = new Columns(Math.max(minLength, 2 * column.length));
  larger.set(column);
  return larger;
}
