import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracesConfig } from '../../config/traces-config.ts';

/**
 * Creates spans and exports them in batches. At most 2,048 spans wait for their export, further ones are dropped, so that a
 * slow collector costs no memory.
 * @param onFailed receives the reason, which contains no address
 */
export function createSpanExport(config: TracesConfig, onFailed: (reason: string) => void) {
  const { url, headers, timeoutMs, compression, resource } = config;
  const agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
  // The type of `compression` is an enum, which the package does not export.
  const options = { url, headers, timeoutMillis: timeoutMs, compression, httpAgentOptions: () => agent } as object;
  const exporter = withReportedFailures(new OTLPTraceExporter(options), {
    maxMs: timeoutMs + graceMs,
    onTooLate: () => agent.destroy(),
    onFailed,
  });
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
}

interface ExportLimits {
  maxMs: number;
  /** Must close the connections. */
  onTooLate: () => void;
  onFailed: (reason: string) => void;
}

/**
 * Failures are logged by the gateway, and not by OpenTelemetry's own log. The exporter's timeout begins again with each
 * byte of a response, so there is another one for the whole export.
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

/** Additional time after the timeout of the exporter. */
const graceMs = 500;

/** The status, or a code such as ECONNREFUSED: messages contain the address, which may be confidential. */
function describe(error: Error | undefined): string {
  if (error === undefined || !('code' in error)) return error?.message ?? 'unknown reason';
  return typeof error.code === 'number' ? `HTTP status ${error.code}` : String(error.code);
}
