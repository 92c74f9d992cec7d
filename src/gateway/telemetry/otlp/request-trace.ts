import type { IncomingHttpHeaders } from 'node:http';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import { ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Redact } from '../../../base/redact.ts';
import type { OtlpConfig } from '../../config/otlp-config.ts';
import { type CallSpan, parseTraceParent, type Trace } from '../../trace.ts';
import { type FinishedReply, type FinishedRequest, findFault, methodLabel } from '../events.ts';
import { createOtlpExporter, exportTimeoutMillis, maxWaiting } from './exporter.ts';

/** A GraphQL request that may be sampled. */
export interface TracedRequest extends Pick<FinishedRequest, 'method' | 'requestId' | 'route'> {
  headers: IncomingHttpHeaders;
}

/** The span of a whole request. */
export interface RequestTrace extends Trace {
  end(request: Pick<FinishedRequest, 'status' | 'errorCodes' | 'reply'>): void;
}

export type RequestTracer = ReturnType<typeof createRequestTracer>;
export type StartTrace = RequestTracer['start'];

interface TracerOptions {
  config: OtlpConfig;
  redact: Redact;
  onFailed: (reason: string) => void;
}

/**
 * Records the spans of sampled requests. Names follow the semantic conventions of OpenTelemetry:
 * https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/. Texts of clients are redacted and limited: the id of
 * the request, the operation's name and `tracestate`. Spans contain neither documents nor variables.
 */
export function createRequestTracer({ config, redact, onFailed }: TracerOptions) {
  const [serializer, helper] = [ProtobufTraceSerializer, TraceExporterMetricsHelper];
  const exporter = createOtlpExporter({ signal: 'traces', serializer, helper, config, onFailed });
  const provider = new TracerProvider({
    // By default, the client's sampled flag would decide a second time.
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes(config.resource),
    spanProcessors: [new WaitingSpans({ exporter, maxQueueSize: maxWaiting, exportTimeoutMillis }, exporter.takePlace)],
  });
  const tracer = provider.getTracer('ledgerquill');
  return {
    /** Null: the request is not sampled, and costs no more than this decision. Not by the trace id, which clients choose. */
    start({ method, requestId, route, headers }: TracedRequest): RequestTrace | null {
      const followed = config.followsParent ? parseTraceParent(headers.traceparent) : null;
      if (!(followed?.isSampled ?? Math.random() < config.ratio)) return null;
      const attributes = {
        'http.request.method': methodLabel(method),
        'http.route': route,
        'url.path': route,
        // Other ids are the gateway's own, which contain nothing to redact.
        'ledgerquill.request.id': headers['x-request-id'] === undefined ? requestId : redact(requestId),
      };
      const name = route === '/check' || route === '/mcp' ? `${methodLabel(method)} ${route}` : 'GraphQL Operation';
      const parent = readParent(headers, redact);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
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
    },
    /** Exports the remaining spans. */
    close: () => provider.shutdown().catch((error: unknown) => onFailed(String(error))),
  };
}

/** Counts the spans that wait, because the processor of OpenTelemetry drops further ones in silence. */
class WaitingSpans extends BatchSpanProcessor {
  readonly #takePlace: () => boolean;

  constructor(options: ConstructorParameters<typeof BatchSpanProcessor>[0], takePlace: () => boolean) {
    super(options);
    this.#takePlace = takePlace;
  }

  override onEnd(span: ReadableSpan): void {
    if (this.#takePlace()) super.onEnd(span);
  }
}

/** The client's trace is continued whether or not its sampled flag decided. */
function readParent({ traceparent, tracestate }: IncomingHttpHeaders, redact: Redact): Context {
  const parent = parseTraceParent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const isPlain =
    typeof tracestate === 'string' && tracestate.length <= maxStateLength && redact(tracestate) === tracestate;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(isPlain && { traceState: new TraceState(tracestate) }),
  });
}

/** https://www.w3.org/TR/trace-context/#tracestate-limits */
const maxStateLength = 512;

function setReply(span: Span, reply: FinishedReply, redact: Redact): void {
  const { operationType, operationName, documentId, usage, isKept } = reply;
  if (operationType === null) return;
  span.updateName(operationType);
  span.setAttribute('graphql.operation.type', operationType);
  if (operationName !== '') span.setAttribute('graphql.operation.name', redact(operationName));
  if (documentId !== null) span.setAttribute('ledgerquill.document.id', documentId);
  if (isKept) span.setAttribute('ledgerquill.kept', true);
  if (usage === null) return;
  span.setAttribute('ledgerquill.look_ups', usage.lookUps);
  span.setAttribute('ledgerquill.cache_hits', usage.cacheHits);
  span.setAttribute('ledgerquill.upstream_calls', usage.upstreamCalls);
}

function setErrors(span: Span, codes: readonly string[]): void {
  span.setAttribute('ledgerquill.error.codes', codes.slice(0, maxCodes));
  const fault = findFault(codes);
  if (fault === undefined) span.setAttribute('error.type', codes[0] ?? '');
  else fail(span, fault);
}

const maxCodes = 10;

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
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
      const attributes = {
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
        if (outcome.fault !== null) fail(span, outcome.fault);
        else if (outcome.status >= 400 && outcome.status !== 422) fail(span, String(outcome.status));
      }
      span.end();
    },
  };
}
