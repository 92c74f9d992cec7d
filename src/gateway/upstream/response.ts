import { errors } from 'undici';
import { parseBoundedJson } from '../../base/parse-json.ts';
import type { RedactSecrets } from '../../base/redact.ts';

/** The headers that the gateway reads. */
export interface ReadHeaders {
  retryAfter?: string;
  limitMonth?: string;
  remainingMonth?: string;
  dataVersion?: string;
}

interface ResponseLimits {
  maxResponseBytes: number;
  redactSecrets: RedactSecrets;
}

/** The response to one attempt, while it arrives. */
export class ArrivingResponse {
  /** 0 before its head. */
  status = 0;
  headers: ReadHeaders = noHeaders;
  readonly #limits: ResponseLimits;
  /** Null unless the body may have lines. */
  #lines: ReceivedLines | null;
  #bytes = 0;
  readonly #chunks: Buffer[] = [];

  /** @param lines how a body in lines is read; null: it is one JSON value */
  constructor(limits: ResponseLimits, lines: LinesReader | null) {
    this.#limits = limits;
    this.#lines = lines && new ReceivedLines(lines, limits.redactSecrets);
  }

  begin(status: number, rawHeaders: readonly Buffer[]): void {
    this.status = status;
    this.headers = readHeaders(rawHeaders);
    if (status !== 200) this.#lines = null;
  }

  /** @returns false if the body is longer than it may be; the rest is not kept */
  add(chunk: Buffer): boolean {
    const remainingBytes = this.#limits.maxResponseBytes - this.#bytes;
    this.#bytes += chunk.length;
    const received = chunk.length > remainingBytes ? chunk.subarray(0, remainingBytes) : chunk;
    this.#chunks.push(received);
    this.#lines?.add(received);
    return chunk.length <= remainingBytes;
  }

  /** The complete body, without secrets; of lines, the text in them and the last one. Null: the last line is missing. */
  read(): { text: string; json: unknown } | null {
    const lastLine = this.#lines?.end();
    const textOfLines = this.#lines?.text() ?? '';
    if (textOfLines !== '') return lastLine === undefined ? null : { text: textOfLines, json: lastLine };
    const text = this.#limits.redactSecrets(decode(this.#received()));
    return { text, json: parseBoundedJson(text) };
  }

  /** The text of an incomplete body, without secrets. */
  readPart(): string {
    return this.#lines?.text() || this.#limits.redactSecrets(decodePart(this.#received()), true);
  }

  #received(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
  }
}

/** How a body in lines of JSON is read: its last line is the answer, those before it add to a text. */
export interface LinesReader {
  /** The text that a line adds; null if it is the answer. */
  readText(line: unknown): string | null;
  /** Called with the whole text so far, without secrets, when it grows. Must not throw. */
  onText?(textSoFar: string): void;
}

/** Reads the lines of a body while it arrives. A body of one JSON value has no lines. */
export class ReceivedLines {
  readonly #reader: LinesReader;
  readonly #redactSecrets: RedactSecrets;
  readonly #decoder = new TextDecoder();
  /** The part after the last line break. */
  #rest = '';
  #text = '';
  /** The last line that is not empty. */
  #last = '';

  constructor(reader: LinesReader, redactSecrets: RedactSecrets) {
    this.#reader = reader;
    this.#redactSecrets = redactSecrets;
  }

  add(chunk: Uint8Array): void {
    const received = this.#decoder.decode(chunk, { stream: true });
    const lines = received.split('\n');
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop() ?? '';
    const length = this.#text.length;
    for (const line of lines) this.#read(line);
    // A secret may be split between lines, and continue in the next one.
    if (this.#text.length > length) this.#reader.onText?.(this.#redactSecrets(this.#text, true));
  }

  /** The text so far; empty if there is none. A secret at its end may be incomplete if the answer did not arrive. */
  text(): string {
    return this.#redactSecrets(this.#text, true);
  }

  /** The answer in the last line; undefined if it is missing. To be called when the body is complete. */
  end(): unknown {
    this.#read(this.#rest + this.#decoder.decode());
    this.#rest = '';
    const last = parseBoundedJson(this.#redactSecrets(this.#last));
    return this.#reader.readText(last) === null ? last : undefined;
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    this.#last = line;
    this.#text += this.#reader.readText(parseBoundedJson(line)) ?? '';
  }
}

const noHeaders: ReadHeaders = {};

/** By their lengths, as each response has many others. */
const headerNames: Readonly<Record<number, readonly [string, keyof ReadHeaders]>> = {
  11: ['retry-after', 'retryAfter'],
  19: ['x-bank-data-version', 'dataVersion'],
  23: ['x-ratelimit-limit-month', 'limitMonth'],
  27: ['x-ratelimit-remaining-month', 'remainingMonth'],
};

/** The first value of each header that the gateway reads. @param raw names and values, one after the other */
function readHeaders(raw: readonly Buffer[]): ReadHeaders {
  let headers = noHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    const wanted = name && headerNames[name.length];
    if (!wanted || name.toString('latin1').toLowerCase() !== wanted[0]) continue;
    if (headers === noHeaders) headers = {};
    headers[wanted[1]] ??= raw[index + 1]?.toString('latin1') ?? '';
  }
  return headers;
}

/** Undici also rejects `100 Continue` and `101 Switching Protocols`. */
export function isInvalidHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return /^bad (?:response|upgrade)$/.test(error.message);
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}

/** The text of a body in UTF-8 without its byte order mark; in Windows-1252, which includes Latin-1, if it is rather that. */
function decode(bytes: Buffer): string {
  const text = bytes.toString();
  if (text.includes('\uFFFD')) return repairLatin1(text, bytes);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The text in Windows-1252 if most of its characters beyond ASCII are malformed UTF-8. */
function repairLatin1(text: string, bytes: Buffer): string {
  const malformed = text.match(/\uFFFD/g)?.length ?? 0;
  const others = text.match(/[^\0-\x7F\uFFFD]/g)?.length ?? 0;
  return malformed > others ? windows1252.decode(bytes) : text;
}

const windows1252 = new TextDecoder('windows-1252');

/** Without the last character, if it is incomplete. */
function decodePart(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
