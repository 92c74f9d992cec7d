import type { IncomingHttpHeaders } from 'node:http';
import type { CallSpan, Trace } from '../../trace.ts';
import { type FinishedReply, type FinishedRequest, findFault, methodLabel } from '../finished-request.ts';
import type { Redact } from '../redact.ts';
import { RecordedSpan, type RecordSpan, type RemoteSpan } from './recorded-span.ts';
import { parseTraceParent } from './trace-parent.ts';

/** A GraphQL request that may be sampled. */
export interface TracedRequest extends Pick<FinishedRequest, 'method' | 'requestId'> {
  headers: IncomingHttpHeaders;
}

/** The span of a whole request. */
export interface RequestTrace extends Trace {
  end(request: Pick<FinishedRequest, 'status' | 'errorCodes' | 'reply'>): void;
}

/**
 * The server span of a request. Names follow the semantic conventions of OpenTelemetry:
 * https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/. Texts of clients are redacted and limited: the id of
 * the request, the operation's name and `tracestate`. Spans contain neither documents nor variables.
 */
export function startRequestTrace(record: RecordSpan, request: TracedRequest, redact: Redact): RequestTrace {
  const { requestId, headers } = request;
  const span = RecordedSpan.start(record, readParent(headers, redact), {
    name: 'GraphQL Operation',
    kind: 'server',
    attributes: {
      'http.request.method': methodLabel(request.method),
      'http.route': '/graphql',
      'url.path': '/graphql',
      // Most ids are the gateway's own, which contain nothing to redact.
      'ledgerquill.request.id': headers['x-request-id'] === undefined ? requestId : redact(requestId),
    },
  });

  return {
    ...createTrace(span),
    end({ status, errorCodes, reply }) {
      span.data.attributes['http.response.status_code'] = status;
      if (reply !== null) setReply(span, reply, redact);
      if (errorCodes.length > 0) setErrors(span, errorCodes);
      if (status >= 500) span.fail(errorCodes[0] ?? String(status));
      span.end();
    },
  };
}

function setReply(span: RecordedSpan, reply: FinishedReply, redact: Redact): void {
  const { operationType, operationName, documentId, usage, isKept } = reply;
  const { attributes } = span.data;
  if (operationType === null) return;
  span.data.name = operationType;
  attributes['graphql.operation.type'] = operationType;
  if (operationName !== '') attributes['graphql.operation.name'] = redact(operationName);
  if (documentId !== null) attributes['ledgerquill.document.id'] = documentId;
  if (isKept) attributes['ledgerquill.kept'] = true;
  if (usage === null) return;
  attributes['ledgerquill.look_ups'] = usage.lookUps;
  attributes['ledgerquill.cache_hits'] = usage.cacheHits;
  attributes['ledgerquill.upstream_calls'] = usage.upstreamCalls;
}

function setErrors(span: RecordedSpan, codes: readonly string[]): void {
  span.data.attributes['ledgerquill.error.codes'] = codes.slice(0, maxCodes);
  const fault = findFault(codes);
  if (fault === undefined) span.data.attributes['error.type'] = codes[0] ?? '';
  else span.fail(fault);
}

const maxCodes = 10;

/** The client's trace is continued whether or not its sampled flag decided. */
function readParent({ traceparent, tracestate }: TracedRequest['headers'], redact: Redact): RemoteSpan | null {
  const parent = parseTraceParent(traceparent);
  if (parent === null) return null;
  const { traceId, spanId, isSampled } = parent;
  const isPlain =
    typeof tracestate === 'string' && tracestate.length <= maxStateLength && redact(tracestate) === tracestate;
  return { traceId, parent: { spanId, isSampled, isRemote: true }, traceState: isPlain ? tracestate : '' };
}

/** https://www.w3.org/TR/trace-context/#tracestate-limits */
const maxStateLength = 512;

/** Child spans of a span. */
function createTrace(parent: RecordedSpan): Trace {
  return {
    traceId: parent.data.traceId,
    startLoad(loader, keys) {
      const attributes = { 'ledgerquill.loader': loader, 'ledgerquill.keys': keys };
      const span = parent.startChild({ name: `load ${loader}`, kind: 'internal', attributes });
      return { ...createTrace(span), end: () => span.end() };
    },
    startCall({ service, method, path, retries }) {
      const attributes = {
        'http.request.method': method,
        'url.template': path,
        'service.peer.name': service,
        ...(retries > 0 && { 'http.request.resend_count': retries }),
      };
      return toCallSpan(parent.startChild({ name: `${method} ${path}`, kind: 'client', attributes }));
    },
  };
}

/** Without the address of the upstream, which is confidential. */
function toCallSpan(span: RecordedSpan): CallSpan {
  return {
    get headers() {
      const { traceId, spanId, traceState } = span.data;
      return ['traceparent', `00-${traceId}-${spanId}-01`, ...(traceState === '' ? [] : ['tracestate', traceState])];
    },
    end(outcome) {
      if (outcome === null) span.data.attributes['error.type'] = 'aborted';
      else if (outcome.kind === 'failed') span.fail(outcome.reason);
      else {
        span.data.attributes['http.response.status_code'] = outcome.status;
        // 422 is the answer that an input is not valid.
        if (outcome.status >= 400 && outcome.status !== 422) span.fail(String(outcome.status));
      }
      span.end();
    },
  };
}
