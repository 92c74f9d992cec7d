import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, millisToHrTime, TraceState } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracesConfig } from '../../config/traces-config.ts';
import type { SpanData } from './recorded-span.ts';
import type { ExportMessage, ThreadData } from './span-export.ts';

/*
 * The thread that exports spans with OpenTelemetry. Its requests to the collector made those of the gateway slower by 5 to
 * 10 percent while they had a thread in common: the compiled code of Node.js' streams then served both.
 * Receives lists of spans, and null at the end.
 */

/** At most 2,048 spans wait for their export, further ones are dropped, so that a slow collector costs no memory. */
function exportSpans(config: TracesConfig, onFailed: (reason: string) => void) {
  const { url, headers, timeoutMs, compression } = config;
  const agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
  // The type of `compression` is an enum, which the package does not export.
  const options = { url, headers, timeoutMillis: timeoutMs, compression, httpAgentOptions: () => agent } as object;
  const exporter = withReportedFailures(new OTLPTraceExporter(options), {
    maxMs: timeoutMs + graceMs,
    onTooLate: () => agent.destroy(),
    onFailed,
  });
  const batches = new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeoutMs + 2 * graceMs });
  const resource = resourceFromAttributes({ 'service.instance.id': randomUUID(), ...config.resource });
  return {
    warmUp(samples: readonly SpanData[]) {
      for (let round = 0; round < warmUpRounds; round += 1) {
        ProtobufTraceSerializer.serializeRequest(samples.map((span) => toReadableSpan(span, resource)));
      }
    },
    add(spans: readonly SpanData[]) {
      for (const span of spans) batches.onEnd(toReadableSpan(span, resource));
    },
    async close() {
      await batches.shutdown().catch((error: unknown) => onFailed(String(error)));
      agent.destroy();
    },
  };
}

const warmUpRounds = 3;

function toReadableSpan(span: SpanData, resource: Resource): ReadableSpan {
  const { name, kind, traceId, spanId, parent, traceState, attributes, startedAt, endedAt, isFailed } = span;
  const origin = { traceId, ...(traceState !== '' && { traceState: new TraceState(traceState) }) };
  const context = { ...origin, spanId, traceFlags: TraceFlags.SAMPLED };
  return {
    name,
    kind: spanKinds[kind],
    spanContext: () => context,
    ...(parent && {
      parentSpanContext: {
        ...origin,
        spanId: parent.spanId,
        traceFlags: parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
        isRemote: parent.isRemote,
      },
    }),
    startTime: millisToHrTime(startedAt),
    endTime: millisToHrTime(endedAt),
    duration: millisToHrTime(endedAt - startedAt),
    status: { code: isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'ledgerquill' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const spanKinds = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, client: SpanKind.CLIENT };

interface ExportLimits {
  maxMs: number;
  /** Must close the connections. */
  onTooLate: () => void;
  onFailed: (reason: string) => void;
}

/**
 * Failures are logged by us, and not by OpenTelemetry's own log. Its timeout begins again with each byte of a response, so
 * there is another one for the whole export.
 */
function withReportedFailures(exporter: SpanExporter, { maxMs, onTooLate, onFailed }: ExportLimits): SpanExporter {
  return {
    export(spans, done) {
      let isTooLate = false;
      const timer = setTimeout(() => {
        isTooLate = true;
        onTooLate();
      }, maxMs);
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

/** After the timeout of the exporter. */
const graceMs = 200;

/** The status, or a code such as ECONNREFUSED: messages contain the address, which may be confidential. */
function describe(error: Error | undefined): string {
  if (error === undefined || !('code' in error)) return error?.message ?? 'unknown reason';
  return typeof error.code === 'number' ? `HTTP status ${error.code}` : String(error.code);
}

const send = (message: ExportMessage) => parentPort?.postMessage(message);
const { config, samples } = workerData as ThreadData;
const { warmUp, add, close } = exportSpans(config, (reason) => send({ kind: 'failed', reason }));
warmUp(samples);
parentPort?.on('message', (spans: readonly SpanData[] | null) => {
  if (spans === null) {
    void close().then(() => parentPort?.close());
    return;
  }
  add(spans);
  send({ kind: 'received', count: spans.length });
});
