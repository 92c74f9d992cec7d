import type { DestinationStream } from 'pino';
import type { LogLevel } from '../config/values.ts';
import { joinEvents } from './events.ts';
import { createLog } from './log.ts';
import { createLogEvents } from './log-events.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Redact } from './redact.ts';
import { createRequestLog } from './request-log.ts';

interface MetricsAddress {
  host: string;
  port: number;
}

interface TelemetryOptions {
  config: { logLevel: LogLevel; requestLogPerSecond: number; metrics: MetricsAddress | null };
  redact: Redact;
  logDestination: DestinationStream;
}

/** Log and metrics, which listen to the events of the gateway. */
export function createTelemetry({ config, redact, logDestination }: TelemetryOptions) {
  const log = createLog({ level: config.logLevel, redact, destination: logDestination });
  const { requestFinished, droppedLines } = createRequestLog(log, config.requestLogPerSecond);
  const metrics = config.metrics && { ...config.metrics, metrics: createMetrics() };
  const events = joinEvents(createLogEvents(log), { requestFinished }, metrics?.metrics.events ?? {});
  return { events, metrics, droppedLogLines: droppedLines };
}
