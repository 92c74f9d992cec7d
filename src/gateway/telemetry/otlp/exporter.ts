import type { Agent } from 'node:http';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import type { IExporterMetricsHelper, ISerializer } from '@opentelemetry/otlp-transformer';
import type { OtlpConfig, Signal } from '../../config/otlp-config.ts';

interface ExporterOptions<Items> {
  signal: Signal;
  serializer: ISerializer<Items, unknown>;
  /** Required for OpenTelemetry's metrics about exports, which are off. */
  helper: IExporterMetricsHelper<Items>;
  config: Pick<OtlpConfig, 'endpoint' | 'headers'>;
  /** Receives the reason, which contains no address. */
  onFailed: (reason: string) => void;
}

/**
 * Sends batches of one signal with OTLP over HTTP, as OpenTelemetry's own exporters do. Failures are logged by the gateway, and not by
 * OpenTelemetry's own log. The exporter's timeout begins again with each byte of a response, so there is another one for the whole
 * export, which closes the connections. At most 2,048 items wait, further ones are dropped, so that a slow collector costs no memory.
 */
export function createOtlpExporter<Items>({ signal, serializer, helper, config, onFailed }: ExporterOptions<Items>) {
  const { endpoint, headers } = config;
  const path = `v1/${signal}`;
  const options = { url: `${endpoint}/${path}`, headers, timeoutMillis: timeoutMs };
  const http = convertLegacyHttpOptions(options, signal.toUpperCase(), path, {
    'Content-Type': 'application/x-protobuf',
  });
  let agent: Agent | undefined;
  // OpenTelemetry's agent, which has the certificates of its variables.
  const agentFactory: typeof http.agentFactory = async (protocol) => {
    agent = await http.agentFactory(protocol);
    return agent;
  };
  const exporter = new OTLPExporterBase(
    createOtlpHttpExportDelegate({ ...http, agentFactory }, serializer, signal, helper, undefined),
  );
  let waiting = 0;
  return {
    /** Whether one more item may wait for its export; otherwise it is reported as dropped. */
    takePlace(): boolean {
      const hasPlace = waiting < maxWaiting;
      if (hasPlace) waiting += 1;
      else onFailed('too many wait, further ones are dropped');
      return hasPlace;
    },
    export(items: Items, done: (result: ExportResult) => void): void {
      let isTooLate = false;
      const timer = setTimeout(() => {
        isTooLate = true;
        agent?.destroy();
      }, timeoutMs + graceMs);
      exporter.export(items, ({ code, error }) => {
        clearTimeout(timer);
        if (Array.isArray(items)) waiting -= items.length;
        if (isTooLate) onFailed('the response took too long');
        else if (code !== ExportResultCode.SUCCESS) onFailed(describe(error));
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    forceFlush: () => exporter.forceFlush(),
    async shutdown(): Promise<void> {
      await exporter.shutdown();
      agent?.destroy();
    },
  };
}

export const maxWaiting = 2_048;
/** How long an export may take, retries included. */
const timeoutMs = 3_000;
/** Additional time after the timeout of the exporter. */
const graceMs = 500;
/** How long OpenTelemetry waits for an exporter, which ends by itself before. */
export const exportTimeoutMillis = timeoutMs + 2 * graceMs;

/** The status, or a code such as ECONNREFUSED: messages contain the address, which may be confidential. */
function describe(error: Error | undefined): string {
  if (error === undefined || !('code' in error)) return error?.message ?? 'unknown reason';
  return typeof error.code === 'number' ? `HTTP status ${error.code}` : String(error.code);
}
