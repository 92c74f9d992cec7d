import { SingleBar } from 'cli-progress';
import type { Progress } from './directory/files/read-bank-file.ts';
import { countOf } from './import-summary.ts';

interface ProgressBar {
  show(progress: Progress): void;
  /** Removes the bar. */
  clear(): void;
}

/** Shows the progress of reading a file. Writes nothing if the stream is not a terminal. */
export function createProgressBar(stream: NodeJS.WriteStream): ProgressBar {
  if (!stream.isTTY) return { show() {}, clear() {} };
  const bar = new SingleBar({
    stream,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 30,
    format: 'reading {bar} {percentage} % | {rows}',
  });
  let isStarted = false;
  return {
    show({ rows, bytes, size }) {
      const payload = { rows: countOf(rows, 'row') };
      if (!isStarted) bar.start(size ?? bytes, 0, payload);
      isStarted = true;
      // The size of a pipe is unknown: the bar always shows nearly 100 %.
      bar.setTotal(size ?? bytes + 1);
      bar.update(bytes, payload);
    },
    clear: () => bar.stop(),
  };
}
