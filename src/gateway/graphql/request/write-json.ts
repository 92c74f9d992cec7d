import type { InTimeSlice } from '../../../base/async/time-slices.ts';

interface WriteOptions {
  maxBytes: number;
  /** Another turn is taken between parts where a slice of time is over. */
  inTimeSlice: InTimeSlice;
}

/**
 * What is left of a length after the JSON of a value, which is not written. Not exact: without escapes. Negative: the JSON is
 * long, and is written in parts by `writeJson`; otherwise it has at most 200 kB, and is written in one go.
 */
export function remainingLength(value: unknown, length = maxPartLength): number {
  if (typeof value === 'string') return length - value.length - 3;
  if (typeof value !== 'object' || value === null) return length - 6;
  let left = length - 3;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = remainingLength(item, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const name in value) {
    left = remainingLength((value as Record<string, unknown>)[name], left - name.length - 3);
    if (left < 0) return left;
  }
  return left;
}

/** In characters, of which each has at most six bytes. */
const maxPartLength = 32_000;

/**
 * Writes JSON in parts, and counts their bytes. Null if there are more than `maxBytes`: the rest is not written then, so that a
 * small tree with many references to one long text takes no more memory than others.
 */
export async function writeJson(value: unknown, options: WriteOptions): Promise<readonly Uint8Array[] | null> {
  const { maxBytes, inTimeSlice } = options;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let text = '';
  const endPart = () => {
    const part = Buffer.from(text);
    text = '';
    bytes += part.length;
    parts.push(part);
  };
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length >= maxPartLength) await inTimeSlice(endPart);
    if (bytes > maxBytes) return null;
  }
  endPart();
  return bytes > maxBytes ? null : parts;
}

/** The JSON of a value, in pieces that are short. */
function* piecesOf(value: unknown): Generator<string> {
  if (remainingLength(value) >= 0) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* piecesOfText(value);
  else if (Array.isArray(value)) yield* piecesOfList(value);
  else yield* piecesOfObject(Object.entries(value as object));
}

function* piecesOfList(items: readonly unknown[]): Generator<string> {
  yield '[';
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ',';
    yield* piecesOf(item);
  }
  yield ']';
}

function* piecesOfObject(fields: readonly (readonly [string, unknown])[]): Generator<string> {
  const written = fields.filter(([, value]) => value !== undefined);
  yield '{';
  for (const [index, [name, value]] of written.entries()) {
    yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`;
    yield* piecesOf(value);
  }
  yield '}';
}

/** A character of two code units is not divided: JSON would have an escape for each half. */
function* piecesOfText(text: string): Generator<string> {
  yield '"';
  let start = 0;
  while (start < text.length) {
    const end = start + maxPartLength;
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
    yield JSON.stringify(text.slice(start, next)).slice(1, -1);
    start = next;
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
