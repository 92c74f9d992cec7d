import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTrace, TracedRequest } from './request-trace.ts';
import { parseTraceParent } from './trace-parent.ts';
import type { Tracer, TracerOptions } from './tracer.ts';

/** Starts the trace of a request; null: it is not sampled. */
export type StartTrace = (request: TracedRequest) => RequestTrace | null;

export interface Traces {
  /** Loads OpenTelemetry. Until then, no request is sampled. */
  load(): Promise<void>;
  start: StartTrace;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** Decides which requests are sampled. The others cost no more than this decision. */
export function createTraces(options: TracerOptions): Traces {
  const { ratio, followsParent } = options.config;
  let tracer: Tracer | null = null;

  return {
    async load() {
      tracer = (await import('./tracer.ts')).createTracer(options);
    },
    start(request) {
      return tracer !== null && isSampled(request.headers) ? tracer.startRequest(request) : null;
    },
    close: async () => tracer?.close(),
  };

  /** Not by the trace id, which clients choose. */
  function isSampled({ traceparent }: IncomingHttpHeaders): boolean {
    const parent = followsParent && traceparent !== undefined ? parseTraceParent(traceparent) : null;
    return parent?.isSampled ?? Math.random() < ratio;
  }
}
