import type { Dispatcher } from 'undici';
import { parseJson } from '../parse-json.ts';
import { type RedactSecrets, redactStrings } from '../telemetry/redact.ts';
import type { Deadline } from './deadline.ts';
import { reasonBeforeResponse, tooManyInfos } from './failure-reason.ts';
import type { Answered, Failed, FailureReason } from './operation.ts';
import { decode, decodePart, readHeaders } from './response-parts.ts';
import { readRetryAfter } from './retry-after.ts';

interface CallOptions {
  maxResponseBytes: number;
  redactSecrets: RedactSecrets;
}

/**
 * One call as undici's handler, which reads the response. A class, so that all calls share its functions; it is also the
 * listener of its deadline. Its functions are those of older handlers: undici 7, the last version for Node.js 20, wraps
 * newer ones, and parses all headers for them.
 */
export class Call implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  readonly #deadline: Deadline;
  readonly #onSettled: (outcome: Answered | Failed) => void;
  readonly #onAborted: (reason: unknown) => void;
  #isSettled = false;
  #close: ((error: Error) => void) | null = null;
  #infos = 0;
  #status: number | null = null;
  #headers: Answered['headers'] = {};
  #body: Buffer = noBytes;
  /** The chunks after the first. Almost every body arrives in one. */
  #chunks: Buffer[] | null = null;
  #bytes = 0;

  /** @param onAborted called instead of `onSettled` when the caller aborts */
  constructor(
    options: CallOptions,
    deadline: Deadline,
    onSettled: (outcome: Answered | Failed) => void,
    onAborted: (reason: unknown) => void,
  ) {
    this.#options = options;
    this.#deadline = deadline;
    this.#onSettled = onSettled;
    this.#onAborted = onAborted;
    deadline.addEventListener('abort', this);
  }

  /** The deadline has expired, or the caller has aborted. */
  handleEvent(): void {
    if (this.#isSettled) return;
    if (this.#deadline.hasExpired()) {
      this.#fail('timed-out');
      return;
    }
    this.#abandon();
    this.#onAborted(this.#deadline.reason);
  }

  /** Settles the call, if it has not settled yet, and closes its connection. */
  #fail(reason: FailureReason): void {
    if (this.#isSettled) return;
    const mayBeCharged = this.#status !== null && this.#status >= 200 && this.#status < 300;
    const text = mayBeCharged ? this.#options.redactSecrets(decodePart(this.#wholeBody()), true) : '';
    this.#abandon();
    this.#settle({ kind: 'failed', reason, text });
  }

  #settle(outcome: Answered | Failed): void {
    this.#deadline.removeEventListener('abort', this);
    this.#onSettled(outcome);
  }

  /** Closes the connection without an outcome; a call that is not sent yet is never sent. */
  #abandon(): void {
    this.#isSettled = true;
    this.#close?.(abandoned);
  }

  /** Whether it was sent, at least in part. */
  get isSent(): boolean {
    return this.#close !== null;
  }

  /** Undici calls it immediately before it sends. If it throws, nothing is sent, and the connection remains open. */
  onConnect(close: (error?: Error) => void): void {
    if (this.#isSettled) throw abandoned;
    this.#close = close;
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
    const part = chunk.length > remainingBytes ? chunk.subarray(0, remainingBytes) : chunk;
    if (this.#body.length === 0) this.#body = part;
    else {
      this.#chunks ??= [];
      this.#chunks.push(part);
    }
    if (chunk.length > remainingBytes) this.#fail('too-large');
    return true;
  }

  onComplete(): void {
    if (this.#isSettled || this.#status === null) return;
    const { redactSecrets } = this.#options;
    const headers = this.#headers;
    let text = decode(this.#wholeBody());
    let json = parseJson(text);
    if (!redactSecrets.isClean(text)) {
      json = redactStrings(json, redactSecrets);
      text = redactSecrets(text);
    }
    this.#isSettled = true;
    const retryAt = readRetryAfter(headers['retry-after']);
    this.#settle({ kind: 'answered', status: this.#status, headers, retryAt, text, json });
  }

  onError(error: Error): void {
    if (!this.isSent) this.#fail('unreachable');
    else this.#fail(this.#status === null ? reasonBeforeResponse(error) : 'truncated');
  }

  #wholeBody(): Buffer {
    return this.#chunks === null ? this.#body : Buffer.concat([this.#body, ...this.#chunks]);
  }
}

const noBytes = Buffer.alloc(0);

/** Interim responses (1xx) of one call. */
const maxInfos = 20;
const abandoned = new Error('The call was abandoned.');
