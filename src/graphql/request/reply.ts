import type { ExecutionResult } from 'graphql';
import type { Caller } from '../../auth/caller.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { Executed } from '../documents/operation.ts';
import { createCacheControl } from './cache-control.ts';
import type { MediaType } from './media-type.ts';
import { type PresentedError, presentErrors } from './present-error.ts';
import { ReplyRecord } from './reply-record.ts';

/** Of a text. `latin1`: each character is one byte of the text in UTF-8; Node.js writes that faster. */
export type TextEncoding = 'utf8' | 'latin1';

/** The HTTP response to a GraphQL request, before compression. */
export interface Reply {
  status: number;
  /** Names in lower case, without `content-type`. */
  headers: Readonly<Record<string, string>>;
  mediaType: MediaType;
  body: string;
  bodyEncoding: TextEncoding;
  record: ReplyRecord;
}

/** The part of a GraphQL request that its reply depends on. */
interface Asked {
  /** Of the request; by name in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  mediaType: MediaType;
  /** Undefined: errors get a new one. */
  requestId: string | undefined;
}

export interface Replies {
  /** @param executed null if no operation was executed */
  create(result: ExecutionResult, asked: Asked, caller: Pick<Caller, 'scopes'>, executed: Executed | null): Reply;
  /** Whether a request asks for extensions of the response, with which it is not cached. */
  asksForExtensions(headers: Asked['headers']): boolean;
}

interface RepliesOptions {
  /** Whether responses depend on the caller. */
  hasCallers: boolean;
  /** Whether requests may ask for `extensions.cost`. */
  exposesCost: boolean;
  /** Whether routers may request traces. */
  hasTraces: boolean;
  redact: Redact;
  events: Pick<Events, 'unexpectedError'>;
}

/**
 * Creates the replies of both ways. `extensions.http` of errors sets status and headers, as in Yoga. With the header
 * `x-cost`, a reply contains the numbers of look-ups, cache hits and upstream calls. Cost means these counts, not money.
 * They show whether an IBAN was looked up before, so only a configured gateway exposes them.
 */
export function createReplies({ hasCallers, exposesCost, hasTraces, redact, events }: RepliesOptions): Replies {
  const cacheControlOf = createCacheControl();
  const extensionHeaders = [...(exposesCost ? [costHeader] : []), ...(hasTraces ? [traceHeader] : [])];
  const vary = [varyOfAll, ...(hasCallers ? ['authorization', 'x-api-key'] : []), ...extensionHeaders].join(', ');

  const asksForExtensions = (headers: Asked['headers']) => {
    for (const name of extensionHeaders) if (headers[name] !== undefined) return true;
    return false;
  };

  return { asksForExtensions, create };

  function create(
    result: ExecutionResult,
    asked: Asked,
    caller: Pick<Caller, 'scopes'>,
    executed: Executed | null,
  ): Reply {
    const { mediaType } = asked;
    const record = new ReplyRecord(executed);
    const usage = exposesCost && asked.headers[costHeader] !== undefined ? executed?.requestContext.usage : undefined;
    const extended = usage ? { ...result, extensions: { ...result.extensions, cost: usage } } : result;
    if (result.errors === undefined) {
      const cacheControl =
        executed && !asksForExtensions(asked.headers)
          ? cacheControlOf(executed.operation.cacheScope, executed.requestContext)
          : 'no-store';
      const headers = { 'cache-control': cacheControl, vary };
      return { status: 200, headers, mediaType, body: JSON.stringify(extended), bodyEncoding: 'utf8', record };
    }
    const hidesSuggestions = !caller.scopes.has('introspection');
    const presented = presentErrors(result.errors, { requestId: asked.requestId, hidesSuggestions, redact, events });
    record.errorCodes = [...new Set(presented.map(({ shown }) => String(shown.extensions?.code)))];
    if (result.errors.some(({ extensions }) => extensions?.refusal === 'cost')) record.refusal = 'cost';
    const { data, extensions } = extended;
    const body = JSON.stringify({ data, errors: presented.map(({ shown }) => shown), extensions });
    const headers = Object.assign({ 'cache-control': 'no-store', vary }, ...presented.map(({ http }) => http?.headers));
    const status = statusOf(presented, 'data' in result, mediaType);
    return { status, headers, mediaType, body, bodyEncoding: 'utf8', record };
  }
}

/** The media type and the encoding depend on these request headers. */
export const varyOfAll = 'accept, accept-encoding';

/** The status of a request whose client has disconnected, so that nothing is sent. As in nginx. */
export const clientClosedRequest = 499;

/** A request with this header, of any value, gets `extensions.cost` if the gateway exposes it. */
export const costHeader = 'x-cost';

/** Routers request a trace with the value `ftv1`. */
export const traceHeader = 'apollo-federation-include-trace';

/** The highest status of the errors; without one, 500 if the gateway failed before it had data. */
function statusOf(errors: readonly PresentedError[], hasData: boolean, mediaType: MediaType): number {
  const isJson = mediaType === 'application/json';
  const statuses = errors.map(({ http }) => (http && !(isJson && http.spec) ? (http.status ?? 0) : 0));
  const isFault = !hasData && errors.some(({ isExpected }) => !isExpected);
  return Math.max(...statuses) || (isFault ? 500 : 200);
}
