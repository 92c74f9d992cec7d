import { randomUUID } from 'node:crypto';
import type { DestinationStream } from 'pino';
import { createLog } from '../../base/log.ts';
import type { Redact } from '../../base/redact.ts';
import type { Signal } from '../config/otlp-config.ts';
import type { Config } from '../config/read-config.ts';
import { type Events, joinEvents } from './events.ts';
import { createLogEvents, createRequestLog } from './log-events.ts';
import type { MetricSources } from './metrics/exposition.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { LogExport } from './otlp/log-export.ts';
import type { MetricExport } from './otlp/metric-export.ts';
import type { RequestTracer, TracedRequest } from './otlp/request-trace.ts';

interface TelemetryOptions {
  config: Pick<Config, 'logLevel' | 'requestLogPerSecond' | 'metrics' | 'otlp' | 'access'>;
  redact: Redact;
  logDestination: DestinationStream;
  /** Further listeners. */
  listeners: readonly Partial<Events>[];
}

/** Log and metrics, which listen to the events of the gateway, traces, and the export of all three. */
export function createTelemetry({ config, redact, logDestination, listeners }: TelemetryOptions) {
  // By its id, a collector tells replicas apart.
  const instance = { 'service.instance.id': randomUUID(), ...config.otlp?.resource };
  const otlp = config.otlp && { ...config.otlp, resource: instance };
  const isExported = (signal: Signal) => otlp?.signals.includes(signal) === true;
  /** Lines that wait until OpenTelemetry is loaded, and then what exports lines. */
  let lines: string[] | LogExport = [];
  const onLine = (line: string) => void (Array.isArray(lines) ? lines.push(line) : lines.add(line));
  const also = isExported('logs') ? { onLine } : {};
  const log = createLog({ level: config.logLevel, redact, destination: logDestination, ...also });
  const { requestFinished, droppedLines } = createRequestLog(log, config.requestLogPerSecond);
  const metrics = config.metrics || isExported('metrics') ? createMetrics(config.access.prices) : null;
  const events = joinEvents(createLogEvents(log), { requestFinished }, metrics?.events ?? {}, ...listeners);
  const reportOf = (what: Parameters<Events['notExported']>[0]) => (reason: string) => events.notExported(what, reason);
  let tracer: RequestTracer | null = null;
  let metricExport: MetricExport | null = null;

  return {
    log,
    events,
    metrics,
    startTrace: isExported('traces') ? (request: TracedRequest) => tracer?.start(request) ?? null : null,
    droppedLogLines: droppedLines,
    setDebug,
    /** Loads OpenTelemetry where it is configured. Until then, no request is sampled. */
    async open(sources: MetricSources): Promise<void> {
      if (otlp && isExported('traces')) {
        const { createRequestTracer } = await import('./otlp/request-trace.ts');
        tracer = createRequestTracer({ config: otlp, redact, onFailed: reportOf('spans') });
      }
      if (otlp && isExported('logs')) {
        const { createLogExport } = await import('./otlp/log-export.ts');
        const exported = createLogExport(otlp, reportOf('lines of the log'));
        if (Array.isArray(lines)) lines.forEach(exported.add);
        lines = exported;
      }
      if (otlp && metrics && isExported('metrics')) {
        const { createMetricExport } = await import('./otlp/metric-export.ts');
        metricExport = createMetricExport({ config: otlp, metrics, sources, onFailed: reportOf('metrics') });
      }
    },
    /** Exports the remaining spans, and the last values of metrics. */
    close: () => Promise.all([tracer?.close(), metricExport?.close()]),
    /** Exports the last lines. */
    closeLog: async () => (Array.isArray(lines) ? undefined : lines.close()),
  };

  /** Changes the level of the log to debug, or back. Request lines remain off if they were off at the start. */
  function setDebug(isDebug: boolean): void {
    log.level = isDebug ? 'debug' : config.logLevel;
    log.info({ logLevel: log.level }, 'the level of the log was changed');
  }
}

/**
 * Compares the clock with the time that has passed: after a step, counts belong to another month, and what is stored expires sooner or
 * later. A machine that was suspended looks the same. @returns a function that ends it
 */
export function watchClock(events: Pick<Events, 'clockStepped'>): () => void {
  let ahead = Date.now() - performance.now();
  const timer = setInterval(() => {
    const before = ahead;
    // Clocks also drift, by less than that between two looks.
    ahead = Date.now() - performance.now();
    if (Math.abs(ahead - before) > stepMs) events.clockStepped(Math.round((ahead - before) / 1_000));
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

const stepMs = 60_000;
const lookEveryMs = 10_000;
