import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
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
import { type ExportResult, ExportResultCode, TraceState } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Redact } from '../../base/redact.ts';
import type { TracesConfig } from '../config/traces-config.ts';
import { type CallSpan, parseTraceParent, type Trace } from '../trace.ts';
import { type FinishedReply, type FinishedRequest, findFault, methodLabel } from './finished-request.ts';

/** A GraphQL request that may be sampled. */
export interface TracedRequest extends Pick<FinishedRequest, 'method' | 'requestId' | 'route'> {
  headers: IncomingHttpHeaders;
}

/** The span of a whole request. */
export interface RequestTrace extends Trace {
  end(request: Pick<FinishedRequest, 'status' | 'errorCodes' | 'reply'>): void;
}

export type RequestTracer = ReturnType<typeof createRequestTracer>;

interface TracerOptions {
  config: TracesConfig;
  redact: Redact;
  onFailed: (reason: string) => void;
}

/**
 * Records the spans of sampled requests. Names follow the semantic conventions of OpenTelemetry:
 * https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/. Texts of clients are redacted and limited: the id of
 * the request, the operation's name and `tracestate`. Spans contain neither documents nor variables.
 */
export function createRequestTracer({ config, redact, onFailed }: TracerOptions) {
  const { tracer, close } = createSpanExport(config, onFailed);
  return {
    start({ method, requestId, route, headers }: TracedRequest): RequestTrace {
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
    close,
  };
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

/**
 * Creates spans and exports them in batches. At most 2,048 spans wait for their export, further ones are dropped, so that a
 * slow collector costs no memory.
 * @param onFailed receives the reason, which contains no address
 */
export function createSpanExport(config: TracesConfig, onFailed: (reason: string) => void) {
  const { url, headers, resource } = config;
  const agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const options = { url, headers, timeoutMillis: timeoutMs, httpAgentOptions: () => agent };
  const exporter = withReportedFailures(new OTLPTraceExporter(options));
  const provider = new TracerProvider({
    // By default, the client's sampled flag would decide a second time.
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes({ 'service.instance.id': randomUUID(), ...resource }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeoutMs + 2 * graceMs })],
  });
  return {
    tracer: provider.getTracer('ledgerquill'),
    /** Exports the remaining spans. */
    async close() {
      await provider.shutdown().catch((error: unknown) => onFailed(String(error)));
      agent.destroy();
    },
  };

  /**
   * Failures are logged by the gateway, and not by OpenTelemetry's own log. The exporter's timeout begins again with each
   * byte of a response, so there is another one for the whole export, which closes the connections.
   */
  function withReportedFailures(exporter: SpanExporter): SpanExporter {
    return {
      export(spans, done) {
        let isTooLate = false;
        const timer = setTimeout(() => {
          isTooLate = true;
          agent.destroy();
        }, timeoutMs + graceMs);
        exporter.export(spans, ({ code, error }: ExportResult) => {
          clearTimeout(timer);
          if (isTooLate) onFailed('the response took too long');
          else if (code !== ExportResultCode.SUCCESS) onFailed(describe(error));
          done({ code: ExportResultCode.SUCCESS });
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }
}

/** How long an export may take, retries included. */
const timeoutMs = 3_000;
/** Additional time after the timeout of the exporter. */
const graceMs = 500;

/** The status, or a code such as ECONNREFUSED: messages contain the address, which may be confidential. */
function describe(error: Error | undefined): string {
  if (error === undefined || !('code' in error)) return error?.message ?? 'unknown reason';
  return typeof error.code === 'number' ? `HTTP status ${error.code}` : String(error.code);
}
