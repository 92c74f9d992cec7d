import type { IncomingHttpHeaders } from 'node:http';
import type { Redact } from '../../../base/redact.ts';
import type { TracesConfig } from '../../config/traces-config.ts';
import { parseTraceParent } from '../../trace.ts';
import type { Events } from '../events.ts';
import type { RequestTrace, RequestTracer, TracedRequest } from './request-trace.ts';

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
