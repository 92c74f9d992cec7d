import type { Client, Dispatcher } from 'undici';
import { parseJson } from '../parse-json.ts';
import { type RedactSecrets, redactStrings } from '../telemetry/redact.ts';
import type { CallSpan } from '../trace.ts';
import type { Deadline } from './deadline.ts';
import { reasonBeforeResponse, tooManyInfos } from './failure-reason.ts';
import type { Answered, CallContinuation, Failed, FailureReason, UpstreamRequest } from './operation.ts';
import { decode, decodePart, noHeaders, readHeaders } from './response-parts.ts';
import { readRetryAfter } from './retry-after.ts';

/** What the calls of a transport have in common. */
interface CallOptions {
  maxResponseBytes: number;
  redactSecrets: RedactSecrets;
  /** Called before the call settles. @param outcome null if the caller has aborted */
  onEnded: (call: Call, outcome: Answered | Failed | null) => void;
}

/** `complete`: undici has received the whole response, and it is the one to this call. */
export type CallProgress = 'unsent' | 'sent' | 'complete';

/**
 * One call as undici's handler, which reads the response. A class, so that all calls share its functions; it is also the
 * listener of its deadline. Its functions are those of older handlers: undici 7, the last version for Node.js 20, wraps
 * newer ones, and parses all headers for them.
 */
export class Call implements Dispatcher.DispatchHandler {
  progress: CallProgress = 'unsent';
  readonly request: UpstreamRequest;
  readonly connection: Client;
  readonly span: CallSpan | null;
  readonly startedAt = performance.now();
  readonly #options: CallOptions;
  readonly #deadline: Deadline;
  readonly #continuation: CallContinuation;
  #isSettled = false;
  #close: ((error: Error) => void) | null = null;
  #infos = 0;
  #status: number | null = null;
  #headers: Answered['headers'] = noHeaders;
  #body: Buffer = noBytes;
  /** The chunks after the first. Almost every body arrives in one. */
  #chunks: Buffer[] | null = null;
  #bytes = 0;

  constructor(
    options: CallOptions,
    request: UpstreamRequest,
    deadline: Deadline,
    continuation: CallContinuation,
    connection: Client,
    span: CallSpan | null,
  ) {
    this.request = request;
    this.connection = connection;
    this.span = span;
    this.#options = options;
    this.#deadline = deadline;
    this.#continuation = continuation;
    deadline.addEventListener('abort', this);
  }

  /** The deadline has expired, or the caller has aborted. */
  handleEvent(): void {
    if (this.#isSettled) return;
    if (this.#deadline.hasExpired()) this.#fail('timed-out');
    else {
      this.#abandon();
      this.#options.onEnded(this, null);
      this.#continuation.onRejected(this.#deadline.reason);
    }
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
    this.#options.onEnded(this, outcome);
    this.#continuation.onResolved(outcome);
  }

  /** Closes the connection; a call that is not sent yet is never sent. */
  #abandon(): void {
    this.#isSettled = true;
    this.#close?.(abandoned);
  }

  /** Undici calls it immediately before it sends. If it throws, nothing is sent, and the connection remains open. */
  onConnect(close: (error?: Error) => void): void {
    if (this.#isSettled) throw abandoned;
    this.progress = 'sent';
    this.#close = close;
    this.#continuation.onSending();
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    if (status < 200) this.#infos += 1;
    else {
      this.#status = status;
      this.#headers = readHeaders(rawHeaders);
    }
    // An upstream could send interim responses until the deadline.
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
    let text = decode(this.#wholeBody());
    let json = parseJson(text);
    if (!redactSecrets.isClean(text)) {
      json = redactStrings(json, redactSecrets);
      text = redactSecrets(text);
    }
    this.#isSettled = true;
    if (this.#status === 200 && this.request.isAnswer?.(json) === false) {
      this.#settle({ kind: 'failed', reason: 'mismatched', text: '' });
      return;
    }
    this.progress = 'complete';
    const retryAt = readRetryAfter(this.#headers['retry-after']);
    this.#settle({ kind: 'answered', status: this.#status, headers: this.#headers, retryAt, text, json });
  }

  onError(error: Error): void {
    if (this.progress === 'unsent') this.#fail('unreachable');
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
