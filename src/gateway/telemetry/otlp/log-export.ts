import { TraceFlags } from '@opentelemetry/api';
import { LogsExporterMetricsHelper, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordProcessor } from '@opentelemetry/sdk-logs';
import { pino } from 'pino';
import type { OtlpConfig } from '../../config/otlp-config.ts';
import { createOtlpExporter, exportTimeoutMillis, maxWaiting } from './exporter.ts';

export type LogExport = ReturnType<typeof createLogExport>;

/**
 * Exports lines of the log in batches, each second: severity, text, time, trace id, and all other fields as attributes. The lines are
 * already redacted.
 */
export function createLogExport(config: OtlpConfig, onFailed: (reason: string) => void) {
  const [serializer, helper] = [ProtobufLogsSerializer, LogsExporterMetricsHelper];
  const exporter = createOtlpExporter({ signal: 'logs', serializer, helper, config, onFailed });
  const batches = new BatchLogRecordProcessor({ exporter, maxQueueSize: maxWaiting, exportTimeoutMillis });
  const resource = resourceFromAttributes(config.resource);
  const provider = new LoggerProvider({ resource, processors: [traceIds, batches] });
  const logger = provider.getLogger('ledgerquill');
  return {
    add(line: string): void {
      if (exporter.takePlace()) logger.emit(readLine(line));
    },
    /** Exports the remaining lines. */
    close: () => provider.shutdown(),
  };
}

/** A secret that was a number leaves no JSON. */
function readLine(line: string) {
  try {
    const { level, time, msg, ...attributes } = JSON.parse(line);
    // https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber: 1 is trace, 5 debug, 9 info.
    const severity = { severityNumber: (level / 10) * 4 - 3, severityText: pino.levels.labels[level] ?? '' };
    return { timestamp: new Date(time), ...severity, body: msg, attributes };
  } catch {
    return { body: line };
  }
}

/** A line names a trace, but no span of it. */
const traceIds: LogRecordProcessor = {
  onEmit(record) {
    const { traceId } = record.attributes;
    if (typeof traceId === 'string') record.spanContext = { traceId, spanId: '', traceFlags: TraceFlags.NONE };
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
