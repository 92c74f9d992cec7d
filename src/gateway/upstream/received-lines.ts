import { parseBoundedJson } from '../../base/parse-json.ts';
import type { RedactSecrets } from '../../base/redact.ts';

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
