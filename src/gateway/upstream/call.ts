import { type Dispatcher, errors, util } from 'undici';
import { errorCodeOf, type ServiceName } from '../../base/errors.ts';
import { parseBoundedJson } from '../../base/parse-json.ts';
import type { RedactSecrets } from '../../base/redact.ts';
import { readRetryAfter } from '../../base/retry-after.ts';
import type { Attempt, MakeCall } from './attempt.ts';
import { type CallProgress, createConnections } from './connections.ts';
import type { Answered, Failed, FailureReason } from './outcome.ts';
import { ReceivedLines } from './received-lines.ts';

export interface CallsOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request. It is read for each, as it may be replaced. */
  key: { header: string; access: Readonly<{ apiKey: string }> };
  maxResponseBytes: number;
  /** Limit for the calls in flight; the queue keeps it. */
  maxConcurrency: number;
  /** Whether the service runs inside the process: then it receives the trace context of a request. */
  isSelfHosted?: boolean;
  /** Applied to every response: some services echo the key that they received. */
  redactSecrets: RedactSecrets;
}

/**
 * Makes each call with undici: one deadline, a size limit, and kept connections for reads. Each write has a connection of its
 * own: it may be charged and lost if the service closes a kept one at that moment, and no late response to another call can be
 * taken for its answer.
 */
export function createCalls(options: CallsOptions): { makeCall: MakeCall; close(): Promise<void> } {
  const { service, baseUrl, key, maxResponseBytes, maxConcurrency, isSelfHosted, redactSecrets } = options;
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  const kept = createConnections({ origin, maxCalls: maxConcurrency, isKept: true });
  const writing = createConnections({ origin, maxCalls: maxConcurrency, isKept: false });

  return {
    makeCall({ request, deadline, context: { trace }, retries }, onSending) {
      const { method, path, query, body } = request;
      const connections = method === 'POST' ? writing : kept;
      const connection = connections.take();
      const span = trace === null ? null : trace.startCall({ service, method, path, retries });
      const sentHeaders = ['accept', request.lines ? linesOrJson : 'application/json', 'accept-encoding', 'identity'];
      sentHeaders.push(key.header, key.access.apiKey);
      if (body !== undefined) sentHeaders.push('content-type', 'application/json');
      if (span !== null && isSelfHosted) sentHeaders.push(...span.headers);
      const dispatchOptions = {
        // Otherwise undici composes it for each call.
        origin,
        method,
        // Some services do not decode a plus sign.
        path: basePath + path + (query ? `?${new URLSearchParams(query)}`.replaceAll('+', '%20') : ''),
        headers: sentHeaders,
        body: body === undefined ? null : JSON.stringify(body),
      };
      return new Promise((resolve, reject) => {
        const onSettled = (call: Call, outcome: Answered | Failed | null) => {
          connections.release(connection, call.progress);
          span?.end(outcome);
          if (outcome === null) reject(deadline.reason);
          else resolve(outcome);
        };
        const call = new Call({ request, deadline, maxResponseBytes, redactSecrets, onSending, onSettled });
        connection.dispatch(dispatchOptions, call);
      });
    },
    close: async () => void (await Promise.all([kept.close(), writing.close()])),
  };
}

const linesOrJson = 'application/x-ndjson, application/json';

interface CallOptions extends Pick<Attempt, 'request' | 'deadline'> {
  maxResponseBytes: number;
  redactSecrets: RedactSecrets;
  onSending: () => void;
  /** Called once. @param outcome null if the caller has aborted */
  onSettled: (call: Call, outcome: Answered | Failed | null) => void;
}

/**
 * Reads the response to one call, as undici's handler. It has the functions of older handlers: undici 7, the last version for
 * Node.js 20, wraps newer handlers.
 */
export class Call implements Dispatcher.DispatchHandler {
  progress: CallProgress = 'unsent';
  readonly #options: CallOptions;
  readonly #onAborted = () => this.#abort();
  #isSettled = false;
  /** In place of the deadline, which has ended for a caller who has left. */
  #lastTimer: NodeJS.Timeout | undefined;
  #close: ((error: Error) => void) | null = null;
  #infos = 0;
  #status: number | null = null;
  #headers: Answered['headers'] = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Null unless the body may have lines. */
  #lines: ReceivedLines | null = null;

  constructor(options: CallOptions) {
    this.#options = options;
    options.deadline.addEventListener('abort', this.#onAborted);
  }

  /** Undici calls it immediately before it sends. If it throws, nothing is sent, and the connection remains open. */
  onConnect(close: (error?: Error) => void): void {
    if (this.#isSettled) throw abandoned;
    this.progress = 'sent';
    this.#close = close;
    this.#options.onSending();
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    if (status < 200) this.#infos += 1;
    else {
      this.#status = status;
      this.#headers = util.parseHeaders(rawHeaders);
      const { request, redactSecrets } = this.#options;
      if (status === 200 && request.lines) this.#lines = new ReceivedLines(request.lines, redactSecrets);
    }
    // An upstream could send interim responses until the deadline.
    if (this.#infos > maxInfos) throw tooManyInfos;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#isSettled) return true;
    const remainingBytes = this.#options.maxResponseBytes - this.#bytes;
    this.#bytes += chunk.length;
    const received = chunk.subarray(0, remainingBytes);
    this.#chunks.push(received);
    this.#lines?.add(received);
    if (chunk.length > remainingBytes) this.#fail('too-large');
    return true;
  }

  onComplete(): void {
    if (this.#isSettled || this.#status === null) return;
    const { request, redactSecrets } = this.#options;
    const lastLine = this.#lines?.end();
    const textOfLines = this.#lines?.text() ?? '';
    if (textOfLines !== '' && lastLine === undefined) {
      this.#fail('truncated');
      return;
    }
    const bytes = Buffer.concat(this.#chunks);
    const decoded = utf8.decode(bytes);
    const received = decoded.includes('\uFFFD') ? repairLatin1(decoded, bytes) : decoded;
    const text = textOfLines || redactSecrets(received);
    const json = textOfLines === '' ? parseBoundedJson(text) : lastLine;
    // Most responses have none.
    const retryAfter = this.#headers['retry-after'];
    const retryAt = retryAfter === undefined ? null : readRetryAfter(retryAfter);
    const answer = { kind: 'answered', status: this.#status, headers: this.#headers, retryAt, text, json } as const;
    const fault = this.#status < 400 ? (request.findFault?.(answer) ?? null) : null;
    if (fault === 'mismatched') {
      this.#settle({ kind: 'failed', reason: fault, text: '' });
      return;
    }
    this.progress = 'complete';
    this.#settle({ ...answer, fault });
  }

  onError(error: Error): void {
    if (this.progress === 'unsent') this.#fail('unreachable', errorCodeOf(error) ?? undefined);
    else if (this.#status !== null) this.#fail('truncated');
    else this.#fail(isInvalidHttp(error) ? 'invalid' : 'reset');
  }

  /** The deadline has expired, or the caller has aborted. A read that was sent is completed: it is paid for. */
  #abort(): void {
    if (this.#isSettled) return;
    const { deadline, request } = this.#options;
    if (deadline.hasExpired()) this.#fail('timed-out');
    else if (request.method === 'GET' && this.progress === 'sent') {
      this.#lastTimer = setTimeout(() => this.#fail('timed-out'), Math.max(0, deadline.leftMs())).unref();
    } else {
      this.#settle(null);
      this.#close?.(abandoned);
    }
  }

  /** Settles the call, if it has not settled yet, and closes its connection; one that is not sent yet is never sent. */
  #fail(reason: FailureReason, code?: string): void {
    if (this.#isSettled) return;
    const mayBeCharged = this.#status !== null && this.#status >= 200 && this.#status < 300;
    const { redactSecrets } = this.#options;
    const readPart = () => this.#lines?.text() || redactSecrets(decodePart(Buffer.concat(this.#chunks)), true);
    this.#settle({ kind: 'failed', reason, ...(code && { code }), text: mayBeCharged ? readPart() : '' });
    this.#close?.(abandoned);
  }

  #settle(outcome: Answered | Failed | null): void {
    this.#isSettled = true;
    clearTimeout(this.#lastTimer);
    this.#options.deadline.removeEventListener('abort', this.#onAborted);
    this.#options.onSettled(this, outcome);
  }
}

/** Interim responses (1xx) of one call. */
const maxInfos = 20;
const tooManyInfos = new Error('too many interim responses');
const abandoned = new Error('The call was abandoned.');

/** Undici also rejects `101 Switching Protocols`. */
function isInvalidHttp(error: unknown): boolean {
  if (error instanceof errors.SocketError) return /^bad (?:response|upgrade)$/.test(error.message);
  return (
    error === tooManyInfos ||
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}

/** The text in Windows-1252, which includes Latin-1, if most of its characters beyond ASCII are malformed UTF-8. */
function repairLatin1(text: string, bytes: Buffer): string {
  const malformed = text.match(/\uFFFD/g)?.length ?? 0;
  const others = text.match(/[^\0-\x7F\uFFFD]/g)?.length ?? 0;
  return malformed > others ? windows1252.decode(bytes) : text;
}

/** Replaces malformed UTF-8, and removes a byte order mark. */
const utf8 = new TextDecoder();
const windows1252 = new TextDecoder('windows-1252');

/** Without the last character, if it is incomplete. */
function decodePart(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
