import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { TracesConfig } from '../../config/traces-config.ts';
import { errorCodeOf } from '../../errors.ts';
import type { RecordSpan, SpanData } from './recorded-span.ts';

export interface SpanExport {
  record: RecordSpan;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

/** Sent by the thread that exports spans. */
export type ExportMessage = { kind: 'received'; count: number } | { kind: 'failed'; reason: string };

/**
 * Passes recorded spans to the thread that exports them, many at once. It does not keep the process running. Spans that are
 * recorded while too many wait for the thread are dropped.
 * @param onFailed receives the reason of each failed export
 */
export function createSpanExport(config: TracesConfig, onFailed: (reason: string) => void): SpanExport {
  const thread = new Worker(threadFile, { workerData: config, execArgv: [] });
  let isRunning = true;
  let waiting = 0;
  thread.unref();
  thread.on('message', (message: ExportMessage) => {
    if (message.kind === 'received') waiting -= message.count;
    else onFailed(message.reason);
  });
  // Without the message, which may contain the address of the collector.
  thread.on('error', (error) =>
    onFailed(`the thread that exports spans has ended: ${errorCodeOf(error) ?? error.name}`),
  );
  thread.on('exit', () => {
    isRunning = false;
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
    async close() {
      if (!isRunning) return;
      passOn();
      const exited = once(thread, 'exit');
      thread.ref();
      thread.postMessage(null);
      await exited;
    },
  };

  function passOn(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    thread.postMessage(recorded);
    recorded = [];
  }
}

const threadFile = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/telemetry/traces/export-thread.js'
    : 'telemetry/traces/export-thread.js',
  import.meta.url,
);
const batchSize = 64;
const maxWaiting = 2_048;
const maxDelayMs = 1_000;
