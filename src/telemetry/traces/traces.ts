import type { IncomingHttpHeaders } from 'node:http';
import type { TracesConfig } from '../../config/traces-config.ts';
import type { Events } from '../events.ts';
import type { Redact } from '../redact.ts';
import { type RequestTrace, startRequestTrace, type TracedRequest } from './request-trace.ts';
import { recordSampleTraces } from './sample-traces.ts';
import { createSpanExport, type SpanExport } from './span-export.ts';
import { parseTraceParent } from './trace-parent.ts';

interface TracesOptions {
  config: TracesConfig;
  /** Applied to the few texts of clients in spans. */
  redact: Redact;
  events: Pick<Events, 'tracesNotExported' | 'traceExportEnded'>;
}

/** Starts the trace of a request; null: it is not sampled. */
export type StartTrace = (request: TracedRequest) => RequestTrace | null;

export interface Traces {
  /** Starts the thread that exports spans. Until then, no request is sampled. */
  open(): void;
  start: StartTrace;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** Decides which requests are sampled. The others cost no more than this decision. */
export function createTraces({ config, redact, events }: TracesOptions): Traces {
  const { ratio, followsParent } = config;
  let spans: SpanExport | null = null;

  return {
    open() {
      spans = createSpanExport(config, events, recordSampleTraces(redact));
    },
    start(request) {
      if (!spans?.isRunning() || !isSampled(request.headers)) return null;
      return startRequestTrace(spans.record, request, redact);
    },
    close: async () => spans?.close(),
  };

  /** Not by the trace id, which clients choose. */
  function isSampled({ traceparent }: IncomingHttpHeaders): boolean {
    const parent = followsParent && traceparent !== undefined ? parseTraceParent(traceparent) : null;
    return parent?.isSampled ?? Math.random() < ratio;
  }
}
