import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
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
import type { CallSpan, RequestTrace, Trace } from '../../trace.ts';
import type { Redact } from '../redact.ts';
import { parseTraceParent } from './trace-parent.ts';

/** A GraphQL request that may be sampled. */
export interface TracedRequest {
  request: { method?: string | undefined };
  headers: IncomingHttpHeaders;
  response: ServerResponse;
  requestId: string;
}

/**
 * The server span of a request; it ends with the response. Names follow the semantic conventions of OpenTelemetry:
 * https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/. Texts of clients are redacted and limited: the id of
 * the request, the operation's name and `tracestate`. There is no text of a document and no variable.
 */
export function startRequestTrace(tracer: Tracer, traced: TracedRequest, redact: Redact): RequestTrace {
  const { request, response, headers, requestId } = traced;
  const attributes = {
    'http.request.method': methods.has(request.method ?? '') ? request.method : '_OTHER',
    'http.route': '/graphql',
    'url.path': '/graphql',
    'ledgerquill.request.id': redact(requestId),
  };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = tracer.startSpan('GraphQL Operation', options, readParent(headers, redact));
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : clientClosedRequest;
    span.setAttribute('http.response.status_code', status);
    if (status >= 500) fail(span, String(status));
    span.end();
  });

  return {
    ...createTrace(tracer, span),
    setOperation(type, name) {
      span.updateName(type).setAttribute('graphql.operation.type', type);
      if (name !== undefined) span.setAttribute('graphql.operation.name', redact(name.slice(0, maxNameLength)));
    },
    setErrors(codes) {
      const distinct = [...new Set(codes.map(String))].slice(0, maxCodes);
      span.setAttribute('ledgerquill.error.codes', distinct);
      const fault = distinct.find((code) => code.startsWith('UPSTREAM_') || code === 'INTERNAL_SERVER_ERROR');
      if (fault === undefined) span.setAttribute('error.type', distinct[0] ?? '');
      else fail(span, fault);
    },
    setUsage({ lookUps, cacheHits, upstreamCalls }) {
      span.setAttributes({
        'ledgerquill.look_ups': lookUps,
        'ledgerquill.cache_hits': cacheHits,
        'ledgerquill.upstream_calls': upstreamCalls,
      });
    },
  };
}

const methods = new Set(['GET', 'HEAD', 'POST']);
/** The client disconnected before the response was complete. */
const clientClosedRequest = 499;
const maxNameLength = 100;
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
