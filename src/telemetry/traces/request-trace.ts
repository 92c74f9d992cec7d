import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import type { CallSpan, Trace } from '../../trace.ts';
import { type FinishedReply, type FinishedRequest, findFault, methodLabel } from '../finished-request.ts';
import type { Redact } from '../redact.ts';
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
export function startRequestTrace(tracer: Tracer, request: TracedRequest, redact: Redact): RequestTrace {
  const { requestId, headers } = request;
  // Most ids are the gateway's own, which contain nothing to redact.
  const shownId = headers['x-request-id'] === undefined ? requestId : redact(requestId);
  const attributes = {
    'http.request.method': methodLabel(request.method),
    'http.route': '/graphql',
    'url.path': '/graphql',
    'ledgerquill.request.id': shownId,
  };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = tracer.startSpan('GraphQL Operation', options, readParent(headers, redact));

  return {
    ...createTrace(tracer, span),
    end({ status, errorCodes, reply }) {
      span.setAttribute('http.response.status_code', status);
      if (reply !== null) setReply(span, reply, redact);
      if (errorCodes.length > 0) setErrors(span, errorCodes);
      if (status >= 500) fail(span, errorCodes[0] ?? String(status));
      span.end();
    },
  };
}

function setReply(span: Span, reply: FinishedReply, redact: Redact): void {
  const { operationType, operationName, documentId, usage, isKept } = reply;
  if (operationType === null) return;
  span.updateName(operationType).setAttribute('graphql.operation.type', operationType);
  if (operationName !== '') span.setAttribute('graphql.operation.name', redact(operationName));
  if (documentId !== null) span.setAttribute('ledgerquill.document.id', documentId);
  if (isKept) span.setAttribute('ledgerquill.kept', true);
  if (usage === null) return;
  span.setAttributes({
    'ledgerquill.look_ups': usage.lookUps,
    'ledgerquill.cache_hits': usage.cacheHits,
    'ledgerquill.upstream_calls': usage.upstreamCalls,
  });
}

function setErrors(span: Span, codes: readonly string[]): void {
  span.setAttribute('ledgerquill.error.codes', codes.slice(0, maxCodes));
  const fault = findFault(codes);
  if (fault === undefined) span.setAttribute('error.type', codes[0] ?? '');
  else fail(span, fault);
}

const maxCodes = 10;

/** The client's trace is continued whether or not its sampled flag decided. */
function readParent({ traceparent, tracestate }: TracedRequest['headers'], redact: Redact): Context {
  const parent = parseTraceParent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const context: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  const state = typeof tracestate === 'string' ? tracestate : '';
  if (state !== '' && redact(state) === state) context.traceState = new TraceState(state);
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

/** Child spans of a span. */
function createTrace(tracer: Tracer, parent: Span): Trace {
  const context = trace.setSpan(ROOT_CONTEXT, parent);
  return {
    traceId: parent.spanContext().traceId,
    startLoad(loader, keys) {
      const attributes = { 'ledgerquill.loader': loader, 'ledgerquill.keys': keys };
      const span = tracer.startSpan(`load ${loader}`, { attributes }, context);
      return { ...createTrace(tracer, span), end: () => span.end() };
    },
    startCall({ service, method, path, retries }) {
      const attributes: Attributes = {
        'http.request.method': method,
        'url.template': path,
        'service.peer.name': service,
        ...(retries > 0 && { 'http.request.resend_count': retries }),
      };
      return toCallSpan(tracer.startSpan(`${method} ${path}`, { kind: SpanKind.CLIENT, attributes }, context));
    },
  };
}

/** Without the address of the upstream, which is confidential. */
function toCallSpan(span: Span): CallSpan {
  return {
    get headers() {
      const { traceId, spanId, traceState } = span.spanContext();
      const state = traceState?.serialize() ?? '';
      return ['traceparent', `00-${traceId}-${spanId}-01`, ...(state === '' ? [] : ['tracestate', state])];
    },
    end(outcome) {
      if (outcome === null) span.setAttribute('error.type', 'aborted');
      else if (outcome.kind === 'failed') fail(span, outcome.reason);
      else {
        span.setAttribute('http.response.status_code', outcome.status);
        // 422 is the answer that an input is not valid.
        if (outcome.status >= 400 && outcome.status !== 422) fail(span, String(outcome.status));
      }
      span.end();
    },
  };
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}
