import { Worker } from 'node:worker_threads';
import type { TracesConfig } from '../../config/traces-config.ts';
import { errorCodeOf } from '../../errors.ts';
import { builtFile } from '../../process/package-files.ts';
import type { Events } from '../events.ts';
import type { RecordSpan, SpanData } from './recorded-span.ts';

export interface SpanExport {
  record: RecordSpan;
  /** False when the thread has ended. Spans are dropped from then on. */
  isRunning(): boolean;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** What the thread that exports spans begins with. */
export interface ThreadData {
  config: TracesConfig;
  /** Not exported: the thread serializes them before it receives others, so that its code is compiled. */
  samples: readonly SpanData[];
}

/** Sent by the thread that exports spans. */
export type ExportMessage = { kind: 'received'; count: number } | { kind: 'failed'; reason: string };

type ExportEvents = Pick<Events, 'tracesNotExported' | 'traceExportEnded'>;

/**
 * Passes recorded spans to the thread that exports them, many at once. It does not keep the process running. Spans that are
 * recorded while too many wait for the thread are dropped.
 * @param samples typical spans
 */
export function createSpanExport(
  config: TracesConfig,
  events: ExportEvents,
  samples: readonly SpanData[] = [],
): SpanExport {
  const workerData: ThreadData = { config, samples };
  const thread = new Worker(threadFile, { workerData, execArgv: [] });
  let isRunning = true;
  let isClosing = false;
  let failure: string | null = null;
  let waiting = 0;
  thread.unref();
  thread.on('message', (message: ExportMessage) => {
    if (message.kind === 'received') waiting -= message.count;
    else events.tracesNotExported(message.reason);
  });
  // Without the message, which may contain the address of the collector.
  thread.on('error', (error) => {
    failure = errorCodeOf(error) ?? error.name;
  });
  thread.on('exit', (code) => {
    isRunning = false;
    if (failure !== null || !isClosing) events.traceExportEnded(failure ?? `exit code ${code}`);
  });
  let recorded: SpanData[] = [];
  let timer: NodeJS.Timeout | null = null;

  return {
    record(span) {
      if (waiting === maxWaiting) return;
      waiting += 1;
      recorded.push(span);
      timer ??= setTimeout(passOn, maxDelayMs).unref();
      if (recorded.length >= batchSize) passOn();
    },
    isRunning: () => isRunning,
    async close() {
      if (!isRunning) return;
      isClosing = true;
      passOn();
      thread.ref();
      const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      thread.postMessage(null);
      const deadline = setTimeout(() => void thread.terminate(), config.timeoutMs + closeGraceMs);
      await exited;
      clearTimeout(deadline);
    },
  };

  function passOn(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    thread.postMessage(recorded);
    recorded = [];
  }
}

const threadFile = builtFile('telemetry/traces/export-thread.js');
const batchSize = 64;
const maxWaiting = 2_048;
const maxDelayMs = 1_000;
/** The thread ends within the timeout of an export and some 100 ms, unless it hangs. */
const closeGraceMs = 2_000;
