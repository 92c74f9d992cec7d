import type { ExecutionResult, GraphQLError } from 'graphql';
import Negotiator from 'negotiator';
import type { InTimeSlice } from '../../../base/async/time-slices.ts';
import { noPrices, type Prices, priceOf } from '../../../base/money.ts';
import type { Redact } from '../../../base/redact.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Freshness, UpstreamActivity, Usage } from '../../request-context.ts';
import type { Events, FinishedReply } from '../../telemetry/events.ts';
import type { CacheScope } from '../documents/cache-scope.ts';
import { createRequestError } from '../documents/document-errors.ts';
import type { Executed } from '../documents/operation.ts';
import { type PresentedError, presentErrors } from './present-error.ts';
import type { ResultStream, StreamFormat } from './stream-formats.ts';

/** The HTTP response to a GraphQL request, before compression. */
export interface Reply {
  status: number;
  /** Names in lower case, without `content-type`. */
  headers: Readonly<Record<string, string>>;
  mediaType: MediaType;
  /** A long one in parts. */
  body: string | readonly Uint8Array[];
  record: ReplyRecord;
  /** The results of a subscription, in place of the body; undefined for other operations. */
  stream?: ResultStream;
}

/** The body of a reply. */
export function textOf({ body }: Reply): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString();
}

/** A reply as log, metrics and traces show it. It refers to no document, which a kept reply would hold in memory. */
export interface ReplyRecord extends FinishedReply {
  /** Null if no operation was executed, or the reply is kept. */
  activity: UpstreamActivity | null;
}

/** The part of an HTTP request that decides the format of its reply. */
export interface RequestedFormat {
  /** Headers of the request, by name in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  mediaType: MediaType;
  requestId: string;
}

export type Replies = ReturnType<typeof createReplies>;

export interface RepliesOptions {
  /** Whether responses depend on the caller. */
  hasCallers: boolean;
  /** The extensions whose scopes callers can have. */
  extensions: readonly Extension[];
  /** Of a reply, or of one result of a subscription. */
  maxReplyBytes: number;
  /** For long replies, which take 25 ms to write. */
  inTimeSlice: InTimeSlice;
  /** What a paid call costs. */
  prices?: Prices;
  redact: Redact;
  events: Pick<Events, 'unexpectedError'>;
}

/**
 * Creates the replies. `extensions.http` of errors sets status and headers, as in Yoga. With the header `x-cost`, a reply
 * contains the numbers of look-ups, cache hits and upstream calls, and what the calls cost. They show whether an IBAN was looked up
 * before, so only a configured gateway exposes them.
 */
export function createReplies(options: RepliesOptions) {
  const { hasCallers, extensions: offeredExtensions, maxReplyBytes, inTimeSlice } = options;
  const { prices = noPrices, redact, events } = options;
  const variedHeaders = [
    ...(hasCallers ? ['authorization', 'x-api-key'] : []),
    ...offeredExtensions.map((name) => extensionHeaders[name]),
    ...(offeredExtensions.includes('cost') ? [callHeaders.quote] : []),
  ];
  const vary = [varyOfAll, ...variedHeaders].join(', ');
  /** The JSON of results that many subscribers have in common. */
  const streamed = new WeakMap<ExecutionResult, string>();
  return { asksFor, asksForExtensions, create, createStream };

  /** Whether a request asks for an extension of the response, and its caller may receive it. */
  function asksFor(extension: Extension, { headers }: RequestedFormat, { scopes }: Pick<Caller, 'scopes'>): boolean {
    return (
      offeredExtensions.includes(extension) &&
      headers[extensionHeaders[extension]] !== undefined &&
      scopes.has(extension)
    );
  }

  /** With extensions, a response is not cached. */
  function asksForExtensions(request: RequestedFormat, caller: Pick<Caller, 'scopes'>): boolean {
    return offeredExtensions.some((extension) => asksFor(extension, request, caller));
  }

  /** The reply to a subscription. */
  function createStream(
    format: StreamFormat,
    results: AsyncIterable<ExecutionResult>,
    request: RequestedFormat,
    caller: Pick<Caller, 'scopes'>,
    executed: Executed,
  ): Reply {
    const { mediaType } = request;
    const headers = { 'cache-control': 'no-store', vary };
    const stream = { format, results: writeResults() };
    return { status: 200, headers, mediaType, body: '', record: createRecord(executed), stream };

    async function* writeResults(): AsyncGenerator<string> {
      for await (const result of results) yield streamed.get(result) ?? (await write(result));
    }

    async function write(result: ExecutionResult): Promise<string> {
      const text = textOf(await create(result, request, caller, null));
      // Errors have the id of their request.
      if (result.errors === undefined) streamed.set(result, text);
      return text;
    }
  }

  /**
   * A reply of too many bytes is refused while it is written.
   * @param executed null if no operation was executed
   */
  function create(
    result: ExecutionResult,
    request: RequestedFormat,
    caller: Pick<Caller, 'scopes'>,
    executed: Executed | null,
  ): Reply | Promise<Reply> {
    const { mediaType, requestId } = request;
    const usage = asksFor('cost', request, caller) ? executed?.requestContext.usage : undefined;
    const extended = usage
      ? { ...result, extensions: { ...result.extensions, cost: describeCost(usage, prices) } }
      : result;
    const { errors } = result;
    const record = createRecord(executed);
    let reply: Reply;
    let answer: object = extended;
    if (errors === undefined) {
      const isCacheable = executed !== null && !asksForExtensions(request, caller);
      const cacheControl = isCacheable
        ? cacheControlOf(executed.operation.cacheScope, executed.requestContext.freshness)
        : 'no-store';
      const headers = { 'cache-control': cacheControl, vary };
      reply = { status: 200, headers, mediaType, body: '', record };
    } else {
      const hidesSuggestions = !caller.scopes.has('introspection');
      const presented = presentErrors(errors, { requestId, hidesSuggestions, redact, events });
      const codes = presented.map(({ shown }) => String(shown.extensions?.code));
      const errorCodes = [...new Set([...codes, ...record.errorCodes])];
      const { data, extensions } = extended;
      answer = { data, errors: presented.map(({ shown }) => shown), extensions };
      reply = {
        status: statusOf(presented, 'data' in result, mediaType),
        headers: Object.assign({ 'cache-control': 'no-store', vary }, ...presented.map(({ http }) => http?.headers)),
        mediaType,
        body: '',
        record: { ...record, errorCodes, refusal: refusalOf(errors) },
      };
    }
    if (remainingLength(answer) >= 0) {
      reply.body = JSON.stringify(answer);
      return reply;
    }
    return writeJson(answer, { maxBytes: maxReplyBytes, inTimeSlice }).then((parts) => {
      if (parts !== null) return { ...reply, body: parts };
      return create({ errors: [createLengthError(maxReplyBytes)] }, request, caller, executed);
    });
  }
}

/** Without prices, only the counts. */
function describeCost({ lookUps, cacheHits, staleHits, upstreamCalls, essayCalls }: Usage, prices: Prices) {
  const counts = { lookUps, cacheHits, staleHits, upstreamCalls };
  const price = priceOf({ bankData: upstreamCalls - essayCalls, essays: essayCalls }, prices);
  return price === undefined ? counts : { ...counts, price };
}

function createLengthError(maxBytes: number): GraphQLError {
  const message =
    `The response has more than ${maxBytes} bytes (MAX_RESPONSE_BYTES): select fewer fields or shorter lists, or split the query ` +
    'into several. A mutation was executed nevertheless.';
  return createRequestError(message, 'BAD_USER_INPUT', { refusal: 'response_size' });
}

function refusalOf(errors: readonly GraphQLError[]): ReplyRecord['refusal'] {
  const refusals = errors.map(({ extensions }) => extensions?.refusal);
  return (['cost', 'response_size'] as const).find((refusal) => refusals.includes(refusal)) ?? null;
}

/** The reply to a client that has disconnected. The errors of its cancelled look-ups are not reported. */
export function createAbandonedReply(mediaType: MediaType, executed: Executed | null): Reply {
  const record = createRecord(executed);
  return { status: clientClosedRequest, headers: {}, mediaType, body: '', record };
}

/** The media type and the encoding depend on these request headers. */
export const varyOfAll = 'accept, accept-encoding';

/** The status of a request whose client has disconnected, so that nothing is sent. As in nginx. */
export const clientClosedRequest = 499;

/** The request headers that ask for extensions of the response: of any value for the cost, `ftv1` for the traces of routers. */
export const extensionHeaders = { cost: 'x-cost', traces: 'apollo-federation-include-trace' } as const;

/** The request headers about paid calls, which need the scope `cost`. */
export const callHeaders = { quote: 'paid-calls', limit: 'paid-calls-max' } as const;

/** The scopes of callers have the same names. */
type Extension = keyof typeof extensionHeaders;

/** The media types of replies that are not streams, in our order of preference. */
const mediaTypes = ['application/json', 'application/graphql-response+json'] as const;
export type MediaType = (typeof mediaTypes)[number];

/** Some clients copy a Content-Type header into Accept. */
const offeredMediaTypes = mediaTypes.flatMap((type) => [type, `${type}; charset=utf-8`, `${type}; charset=utf8`]);

/** The type that an Accept header prefers; null if it allows none. Yoga ignores quality values. */
export function chooseMediaType(accept: string | undefined): MediaType | null {
  if (!accept || accept === '*/*' || accept === mediaTypes[0]) return mediaTypes[0];
  const chosen = new Negotiator({ headers: { accept } }).mediaType(offeredMediaTypes)?.replace(/;.*/, '');
  return mediaTypes.find((type) => type === chosen) ?? null;
}

/** Whether the client prefers a page to JSON, as browsers do for an address that a user opens. */
export function prefersHtml(accept: string | undefined): boolean {
  if (!accept?.includes('text/html')) return false;
  return new Negotiator({ headers: { accept } }).mediaType([...offeredMediaTypes, 'text/html']) === 'text/html';
}

/**
 * The value of `Cache-Control` for routers and browsers: a response may be cached while all values in it are fresh,
 * privately if it contains an IBAN. Responses with errors or stale values are not cached.
 */
export function cacheControlOf(scope: CacheScope, { freshUntil }: Freshness): string {
  const freshS = Math.min(Math.floor((freshUntil - Date.now()) / 1_000), maxAgeS);
  if (scope === 'none' || !(freshS > 0)) return 'no-store';
  return `${scope}, max-age=${freshS}`;
}

/** The largest max-age. Computed values have it, too: they change only with a release. */
const maxAgeS = 86_400;

/** @param executed null if no operation was executed */
export function createRecord(executed: Executed | null): ReplyRecord {
  const label = executed?.operation.label;
  const outcomes = executed?.requestContext.outcomes ?? [];
  return {
    operationType: label?.type ?? null,
    operationName: label?.name ?? '',
    documentId: executed?.documentId?.slice(0, idLength) ?? null,
    isTrusted: executed?.isTrusted ?? false,
    outcomes: outcomes.length === 0 ? none : [...new Set(outcomes.map(({ type }) => type))],
    errorCodes: outcomes.length === 0 ? none : [...new Set(outcomes.flatMap(({ code }) => code ?? []))],
    refusal: null,
    usage: executed?.requestContext.usage ?? null,
    activity: executed?.requestContext.activity ?? null,
    isKept: false,
  };
}

const none: readonly never[] = [];

/** Enough of a SHA-256 hash to find the document; shorter ones can look like an IBAN, which the log redacts. */
const idLength = 32;

/**
 * The status of a reply with errors, by GraphQL over HTTP, September 2026, "Status Codes": with application/graphql-response+json,
 * 294 with data, even if it is null. Otherwise, the highest status of the errors, or 500 if the gateway failed. With
 * application/json, what is not an error of HTTP has 200, which clients of this media type expect.
 */
function statusOf(errors: readonly PresentedError[], hasData: boolean, mediaType: MediaType): number {
  const isJson = mediaType === 'application/json';
  if (hasData && !isJson) return partialSuccess;
  const isFault = !hasData && errors.some(({ isExpected }) => !isExpected);
  const statuses = errors.map(({ http, shown }) => {
    if (isJson) return http && !http.spec ? (http.status ?? 0) : 0;
    return unprocessable.has(shown.extensions?.code) ? 422 : (http?.status ?? 0);
  });
  return Math.max(...statuses) || (isFault ? 500 : isJson ? 200 : 422);
}

/** A reply with data and errors; not registered with IANA. Clients treat an unknown 2xx status as 200 (RFC 9110, 15). */
export const partialSuccess = 294;

/**
 * Codes of requests that cannot be executed, by the same section. It also recommends 422 for documents and variables that are
 * not valid, and for parameters that are missing or of a wrong type, where the audits of graphql-http require 400.
 */
const unprocessable: ReadonlySet<unknown> = new Set([
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_MISMATCH',
]);

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
