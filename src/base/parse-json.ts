/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined if the text is not JSON, or would take too long to parse. */
export function parseBoundedJson(text: string): unknown {
  return text.length > maxUncheckedLength && findJsonProblem(text) !== null ? undefined : parseJson(text);
}

/** Whether a value of JSON is an object, and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The property of an object; undefined for any other value. */
export function readProperty(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Shorter JSON is parsed within a millisecond or two, whatever it contains. */
export const maxUncheckedLength = 10_000;

interface JsonLimits {
  maxDepth: number;
  /** Objects, lists, and fields; their numbers and texts take less time to parse. */
  maxParts: number;
  /** Objects, lists, fields, and elements of lists. */
  maxValues: number;
}

/** Finds why the JSON of a client or a service would take too long to parse, or to validate; null if it would not. */
export function findJsonProblem(text: string, limits: Partial<JsonLimits> = {}): string | null {
  const { maxDepth, maxParts, maxValues } = { ...parsedLimits, ...limits };
  const names = new Set<string>();
  /** The text that was read last: before a colon, it is the name of a field. */
  let [start, end] = [0, 0];
  let depth = 0;
  let parts = 0;
  let fields = 0;
  let commas = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      start = index + 1;
      end = findTextEnd(text, index);
      index = end;
    } else if (code === openBracket || code === openBrace) {
      depth += 1;
      parts += 1;
      if (depth > maxDepth) return `JSON may be nested at most ${maxDepth} levels deep.`;
    } else if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (code === colon) {
      fields += 1;
      names.add(text.slice(start, end));
      if (names.size > maxNames) return `JSON may have at most ${maxNames} different names of fields.`;
    } else if (code === comma) commas += 1;
    if (parts + fields > maxParts) return `JSON may have at most ${maxParts} objects, lists and fields.`;
    if (parts + commas > maxValues) return `JSON may have at most ${maxValues} values.`;
  }
  return null;
}

/** The index of the quote at the end of a text, or of the end. */
function findTextEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The parts take up to 15 ms. */
const parsedLimits: JsonLimits = { maxDepth: 100, maxParts: 50_000, maxValues: Number.POSITIVE_INFINITY };
/** Each new name takes about 2 µs, twenty times as long as one that is repeated. */
const maxNames = 1_000;

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Roughly, the memory of a JSON value, in bytes, as measured. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
