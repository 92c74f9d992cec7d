import { randomInt } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Signal } from '../../base/async/signal.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { Refusal } from '../callers/access.ts';
import type { Caller } from '../callers/caller.ts';
import type { GraphqlRequest } from '../graphql/request/params.ts';
import {
  chooseMediaType,
  clientClosedRequest,
  type MediaType,
  partialSuccess,
  type ReplyRecord,
} from '../graphql/request/reply.ts';
import type { FinishedRequest, RequestRoute } from '../telemetry/events.ts';
import type { RequestTrace } from '../telemetry/otlp/request-trace.ts';
import { parseTraceParent } from '../trace.ts';
import { endAfterBody, type IncomingRequest } from './incoming-request.ts';

/** The same for all exchanges. */
interface ExchangeOptions {
  write: (response: PendingResponse) => void;
  onFinished: (request: FinishedRequest) => void;
  readRequestId: ReadRequestId;
  confirmCaller: (request: IncomingRequest, caller: Caller) => Promise<boolean>;
}

/** A request and its response. */
export class Exchange implements GraphqlRequest {
  readonly request: IncomingRequest;
  readonly response: ServerResponse<IncomingRequest>;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: Signal;
  /** The client's own id, so that a request can be traced across services; otherwise a new one. */
  readonly requestId: string;
  /** Names and values of headers that every response to this request has, one after the other. */
  readonly responseHeaders: string[];
  /** Media type of the response; set when the request was validated. */
  mediaType: MediaType = 'application/json';
  /** Whether the client accepts streams only; set with `mediaType`. */
  isStreamOnly = false;
  /** Set when the path was read. */
  route: RequestRoute = 'other';
  /** Of the URL, without the question mark; set with `route`. */
  search = '';
  /** When the body was received, by `performance.now()`; before, when the headers were. */
  receivedAt = performance.now();
  /** Null until a reply was sent. */
  reply: ReplyRecord | null = null;
  /** Null until the caller was identified. */
  caller: Caller | null = null;
  trace: RequestTrace | null = null;
  /** Body of a POST request; set when it was read. */
  body = '';
  readonly #options: ExchangeOptions;
  readonly #startedAt = this.receivedAt;
  #errorCode: ErrorCode | null = null;
  #isAnswered = false;
  #isFinished = false;

  constructor(request: IncomingRequest, response: ServerResponse<IncomingRequest>, options: ExchangeOptions) {
    this.request = request;
    this.response = response;
    this.method = request.method ?? '';
    this.headers = request.headers;
    this.signal = request.signal;
    this.#options = options;
    this.requestId = options.readRequestId(this.headers['x-request-id']);
    this.responseHeaders = ['x-request-id', this.requestId, 'x-content-type-options', 'nosniff'];
  }

  /**
   * @param headers names and values, one after the other
   * @param body a long one in parts
   */
  send(status: number, headers: readonly string[], body: string | Uint8Array | readonly Uint8Array[] = ''): void {
    const parts = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
    let bytes = 0;
    for (const part of parts) bytes += Buffer.byteLength(part);
    this.responseHeaders.push(...headers, 'content-length', String(bytes));
    this.#isAnswered = true;
    this.#options.write({ exchange: this, status, parts, bytes });
  }

  /** Whether a response was sent, or begun. */
  get isAnswered(): boolean {
    return this.#isAnswered || this.response.headersSent;
  }

  /** Whether the credentials still identify the caller: a token expires, and a key may be withdrawn. */
  async confirmCaller(): Promise<boolean> {
    return this.caller === null || this.#options.confirmCaller(this.request, this.caller);
  }

  sendJson(
    status: number,
    body: object,
    headers: readonly string[] = [],
    mediaType: MediaType = 'application/json',
  ): void {
    // Neither errors nor health checks are cached: a shared cache would serve them to other clients of the same URL.
    const jsonHeaders = ['content-type', `${mediaType}; charset=utf-8`, 'cache-control', 'no-store'];
    this.send(status, [...jsonHeaders, ...headers], JSON.stringify(body));
  }

  /**
   * Sends an HTTP error in the format of GraphQL errors, and in the media type that the client prefers: clients read the
   * body of a status such as 401 only if it has the type of GraphQL responses.
   */
  sendError(status: number, code: ErrorCode, message: string, headers: readonly string[] = []): void {
    this.#errorCode = code;
    const extensions = { code, service: null, retryable: status === 503 || status === 429, requestId: this.requestId };
    const mediaType = chooseMediaType(this.headers.accept) ?? 'application/json';
    this.sendJson(status, { errors: [{ message, extensions }] }, headers, mediaType);
  }

  /** Has the caller from now on, or sends the refusal and returns null. */
  admit(found: Caller | Refusal): Caller | null {
    if (found.kind === 'refused') {
      this.sendError(found.status, found.code, found.message, Object.entries(found.headers).flat());
      return null;
    }
    this.caller = found;
    const { share } = this.request;
    const callerId = found.kind === 'anonymous' ? null : found.id;
    if (share && share.callerId !== callerId) share.assignTo(callerId);
    return found;
  }

  /** Reports the exchange once. @param status 499 if the client has disconnected */
  finish(status: number): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const { method, headers, reply, trace, route, requestId } = this;
    const endedAt = performance.now();
    const clientsTrace = headers.traceparent === undefined ? null : parseTraceParent(headers.traceparent);
    const finished: FinishedRequest = {
      method,
      route,
      status,
      requestId,
      traceId: trace?.traceId ?? clientsTrace?.traceId ?? null,
      callerName: this.caller?.name ?? null,
      clientName: readClientHeader(headers['apollographql-client-name']),
      clientVersion: readClientHeader(headers['apollographql-client-version']),
      endedAt,
      durationMs: endedAt - this.#startedAt,
      overheadMs: endedAt - this.receivedAt - (reply?.activity?.waitedMs(endedAt) ?? 0),
      reply,
      errorCodes: this.#errorCode === null ? (reply?.errorCodes ?? []) : [this.#errorCode],
    };
    trace?.end(finished);
    this.#options.onFinished(finished);
  }
}

/** A response that is ready to be written. */
interface PendingResponse {
  exchange: Exchange;
  status: number;
  /** The body, in parts. */
  parts: readonly (string | Uint8Array)[];
  /** Size of all parts. */
  bytes: number;
}

interface ResponseWriterOptions {
  /** Called when a client has not read all of a response at once. */
  onUnread: (response: ServerResponse<IncomingRequest>) => void;
  /** Called when a response cannot be written, such as one with an illegal header. Its connection is closed. */
  onFault: (exchange: Exchange, error: unknown) => void;
}

/**
 * Writes the responses of a turn of the event loop together at its end: each write wakes up the client's process, which may share
 * a core.
 */
export function createResponseWriter({ onUnread, onFault }: ResponseWriterOptions) {
  let waiting: PendingResponse[] = [];

  return (pending: PendingResponse): void => {
    if (waiting.push(pending) === 1) setImmediate(endTurn);
  };

  function endTurn(): void {
    const responses = waiting;
    waiting = [];
    for (const pending of responses) writeOrFail(pending);
  }

  function writeOrFail(pending: PendingResponse): void {
    const { exchange, status } = pending;
    try {
      exchange.finish(write(pending) ? status : clientClosedRequest);
    } catch (error) {
      onFault(exchange, error);
      exchange.response.destroy();
    }
  }

  /** False if the client has disconnected. */
  function write({ exchange: { response, responseHeaders }, status, parts, bytes }: PendingResponse): boolean {
    const { socket } = response;
    if (response.destroyed || socket === null) return false;
    // Node.js does not know its name.
    if (status === partialSuccess) response.statusMessage = 'Partial Success';
    // Node.js sends a flat array as it is, without a map of headers.
    response.writeHead(status, responseHeaders);
    if (bytes > 0) {
      // Header and body in one write; `end(body)` would add an empty one. Otherwise, `write` corks the socket until the
      // next tick.
      socket.cork();
      for (const part of parts) response.write(part);
      socket.uncork();
    }
    endAfterBody(response);
    if (response.writableLength > 0) onUnread(response);
    return true;
  }
}

type ReadRequestId = ReturnType<typeof createRequestIds>;

/**
 * Returns the id in the header `x-request-id`, or a new one. New ids have 12 characters: three digits, which differ between processes, and a counter, which begins at random. They
 * cannot look like an IBAN, which the log would redact.
 */
export function createRequestIds() {
  const prefix = String(randomInt(100, 1_000));
  let last = randomInt(maxIds);
  return (header: string | string[] | undefined): string => {
    if (typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)) return header;
    last = (last + 1) % maxIds;
    return prefix + last.toString(36).padStart(9, '0');
  };
}

/** Nine digits to base 36. */
const maxIds = 36 ** 9;

/**
 * The name or version of a client, for the log: short and printable. Empty if it is missing. Tabs and others become spaces,
 * between which an IBAN is still recognized.
 */
function readClientHeader(header: string | string[] | undefined): string {
  return header === undefined ? '' : String(header).slice(0, maxHeaderLength).replace(unprintable, ' ');
}

const maxHeaderLength = 100;
const unprintable = /[^\x20-\x7e]/g;

export type Encoding = 'br' | 'gzip' | 'identity';

/** The encoding that the client prefers; of equally preferred ones, the first of `encodings`. */
export function chooseEncoding(request: IncomingMessage, encodings: readonly Encoding[]): Encoding {
  if (request.headers['accept-encoding'] === undefined) return 'identity';
  const negotiator = new Negotiator(request) as Negotiator & NegotiatorV1;
  // A client that accepts none of them gets an uncompressed response (RFC 9110, 12.5.3).
  return negotiator.encoding(encodings, { preferred: encodings }) ?? 'identity';
}

/** Compresses a response to one request: the highest quality of Brotli would take too long. */
export function compress(
  body: string | readonly Uint8Array[],
  encoding: Exclude<Encoding, 'identity'>,
): Promise<Buffer> {
  const compressor = encoding === 'gzip' ? createGzip() : createBrotliCompress({ params: brotliParams });
  return buffer(Readable.from(typeof body === 'string' ? [body] : body).pipe(compressor));
}

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Missing in the types of Negotiator 1: https://github.com/jshttp/negotiator#encodingavailableencodings-options */
interface NegotiatorV1 {
  encoding(available: readonly Encoding[], options: { preferred: readonly Encoding[] }): Encoding | undefined;
}
