import { type Dispatcher, util } from 'undici';
import { type RedactSecrets, redactStrings } from '../telemetry/redact.ts';
import { reasonBeforeResponse, tooManyInfos } from './failure-reason.ts';
import type { Answered, Failed, FailureReason } from './operation.ts';
import { readRetryAfter } from './retry-after.ts';

interface CallOptions {
  maxResponseBytes: number;
  redactSecrets: RedactSecrets;
}

/**
 * One call as undici's handler, which reads the response. A class, so that all calls share its functions. It has the older
 * functions of a handler: undici 7, the last version for Node.js 20, wraps the newer ones and parses all headers for them.
 */
export class Call implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  readonly #onSettled: (outcome: Answered | Failed) => void;
  #isSettled = false;
  #close: ((error: Error) => void) | null = null;
  #infos = 0;
  #status: number | null = null;
  #headers: Answered['headers'] = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(options: CallOptions, onSettled: (outcome: Answered | Failed) => void) {
    this.#options = options;
    this.#onSettled = onSettled;
  }

  /** Settles the call, if it has not settled yet, and closes its connection. */
  fail(reason: FailureReason): void {
    if (this.#isSettled) return;
    const mayBeCharged = this.#status !== null && this.#status >= 200 && this.#status < 300;
    const text = mayBeCharged ? this.#options.redactSecrets(decodePart(this.#body()), true) : '';
    this.abandon();
    this.#onSettled({ kind: 'failed', reason, text });
  }

  /** Closes the connection without an outcome; a call that is not sent yet is never sent. */
  abandon(): void {
    this.#isSettled = true;
    this.#close?.(abandoned);
  }

  onConnect(close: (error?: Error) => void): void {
    this.#close = close;
    if (this.#isSettled) close(abandoned);
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    if (status >= 200) {
      this.#status = status;
      this.#headers = readHeaders(rawHeaders);
      return true;
    }
    // An upstream could send interim responses until the deadline.
    this.#infos += 1;
    if (this.#infos > maxInfos) throw tooManyInfos;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#isSettled) return true;
    const remainingBytes = this.#options.maxResponseBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk.length > remainingBytes ? chunk.subarray(0, remainingBytes) : chunk);
    if (chunk.length > remainingBytes) this.fail('too-large');
    return true;
  }

  onComplete(): void {
    if (this.#isSettled || this.#status === null) return;
    const { redactSecrets } = this.#options;
    const headers = this.#headers;
    let text = decode(this.#body());
    let json = parseJson(text);
    if (!redactSecrets.isClean(text)) {
      json = redactStrings(json, redactSecrets);
      text = redactSecrets(text);
    }
    this.#isSettled = true;
    const retryAt = readRetryAfter(headers['retry-after']);
    this.#onSettled({ kind: 'answered', status: this.#status, headers, retryAt, text, json });
  }

  onError(error: Error): void {
    this.fail(this.#status === null ? reasonBeforeResponse(error) : 'truncated');
  }

  /** Almost every body arrives in one chunk. */
  #body(): Buffer {
    const [first, second] = this.#chunks;
    return first && !second ? first : Buffer.concat(this.#chunks);
  }
}

/** The headers that the gateway reads. Most responses have none of them, and then nothing is parsed. */
function readHeaders(raw: Buffer[]): Answered['headers'] {
  const found: Buffer[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index];
    const value = raw[index + 1];
    if (name && value && nameLengths.has(name.length)) found.push(name, value);
  }
  return found.length === 0 ? noHeaders : util.parseHeaders(found);
}

const nameLengths = new Set(
  ['retry-after', 'x-bank-data-version', 'x-ratelimit-limit-month', 'x-ratelimit-remaining-month'].map(
    ({ length }) => length,
  ),
);
const noHeaders = {};

/** Interim responses (1xx) of one call. */
const maxInfos = 20;
const abandoned = new Error('The call was abandoned.');

/** Both replace malformed UTF-8 in the same way; only `TextDecoder` removes a byte order mark. */
function decode(bytes: Buffer): string {
  return bytes[0] === 0xef ? new TextDecoder().decode(bytes) : bytes.toString();
}

/** Without the last character, if it is incomplete. */
function decodePart(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
