import type { DestinationStream } from 'pino';
import { createLog } from '../../base/log.ts';
import type { Redact } from '../../base/redact.ts';
import type { LogLevel } from '../../base/variables/parsers.ts';
import type { TracesConfig } from '../config/traces-config.ts';
import { joinEvents } from './events.ts';
import { createLogEvents, createRequestLog } from './log-events.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createTraces } from './traces/traces.ts';

interface TelemetryOptions {
  config: {
    logLevel: LogLevel;
    requestLogPerSecond: number;
    metrics: { host: string; port: number } | null;
    traces: TracesConfig | null;
  };
  redact: Redact;
  logDestination: DestinationStream;
}

/** Log and metrics, which listen to the events of the gateway, and traces. */
export function createTelemetry({ config, redact, logDestination }: TelemetryOptions) {
  const log = createLog({ level: config.logLevel, redact, destination: logDestination });
  const { requestFinished, droppedLines } = createRequestLog(log, config.requestLogPerSecond);
  const metrics = config.metrics && { ...config.metrics, metrics: createMetrics() };
  const events = joinEvents(createLogEvents(log), { requestFinished }, metrics?.metrics.events ?? {});
  const traces = config.traces && createTraces({ config: config.traces, redact, events });
  return { events, metrics, traces, droppedLogLines: droppedLines, setDebug };

  /** Changes the level of the log to debug, or back. Request lines remain off if they were off at the start. */
  function setDebug(isDebug: boolean): void {
    log.level = isDebug ? 'debug' : config.logLevel;
    log.info({ logLevel: log.level }, 'the level of the log was changed');
  }
}
