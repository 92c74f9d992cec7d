import type { IncomingHttpHeaders } from 'node:http';
import type { DestinationStream } from 'pino';
import { createLog } from '../../base/log.ts';
import type { Redact } from '../../base/redact.ts';
import type { LogLevel } from '../../base/variables/parsers.ts';
import type { TracesConfig } from '../config/traces-config.ts';
import { parseTraceParent } from '../trace.ts';
import { type Events, joinEvents } from './events.ts';
import { createLogEvents, createRequestLog } from './log-events.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { RequestTrace, RequestTracer, TracedRequest } from './request-trace.ts';

interface TelemetryOptions {
  config: {
    logLevel: LogLevel;
    requestLogPerSecond: number;
    metrics: { host: string; port: number } | null;
    traces: TracesConfig | null;
  };
  redact: Redact;
  logDestination: DestinationStream;
  /** Further listeners. */
  listeners: readonly Partial<Events>[];
}

/** Log and metrics, which listen to the events of the gateway, and traces. */
export function createTelemetry({ config, redact, logDestination, listeners }: TelemetryOptions) {
  const log = createLog({ level: config.logLevel, redact, destination: logDestination });
  const { requestFinished, droppedLines } = createRequestLog(log, config.requestLogPerSecond);
  const metrics = config.metrics && { ...config.metrics, metrics: createMetrics() };
  const events = joinEvents(createLogEvents(log), { requestFinished }, metrics?.metrics.events ?? {}, ...listeners);
  const traces = config.traces && createTraces({ config: config.traces, redact, events });
  return { events, metrics, traces, droppedLogLines: droppedLines, setDebug };

  /** Changes the level of the log to debug, or back. Request lines remain off if they were off at the start. */
  function setDebug(isDebug: boolean): void {
    log.level = isDebug ? 'debug' : config.logLevel;
    log.info({ logLevel: log.level }, 'the level of the log was changed');
  }
}

interface TracesOptions {
  config: TracesConfig;
  /** Applied to the few texts of clients in spans. */
  redact: Redact;
  events: Pick<Events, 'tracesNotExported'>;
}

export type StartTrace = ReturnType<typeof createTraces>['start'];

/** Decides which requests are sampled. The others cost no more than this decision. */
export function createTraces({ config, redact, events }: TracesOptions) {
  const { ratio, followsParent } = config;
  let tracer: RequestTracer | null = null;

  return {
    /** Loads OpenTelemetry. Until then, no request is sampled. */
    async open(): Promise<void> {
      const { createRequestTracer } = await import('./request-trace.ts');
      tracer = createRequestTracer({ config, redact, onFailed: events.tracesNotExported });
    },
    /** Starts the trace of a request; null: it is not sampled. */
    start: (request: TracedRequest): RequestTrace | null =>
      tracer !== null && isSampled(request.headers) ? tracer.start(request) : null,
    /** Exports the remaining spans. */
    close: async () => tracer?.close(),
  };

  /** Not by the trace id, which clients choose. */
  function isSampled({ traceparent }: IncomingHttpHeaders): boolean {
    const parent = followsParent ? parseTraceParent(traceparent) : null;
    return parent?.isSampled ?? Math.random() < ratio;
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
