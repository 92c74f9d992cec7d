import { SingleBar } from 'cli-progress';
import type { Progress } from './directory/files/read-bank-file.ts';

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
    format: 'reading {bar} {percentage} % | {rows} rows',
  });
  let isStarted = false;
  return {
    show({ rows, bytes, size }) {
      if (!isStarted) bar.start(size ?? bytes, 0, { rows: 0 });
      isStarted = true;
      // The size of a pipe is unknown: the bar always shows nearly 100 %.
      bar.setTotal(size ?? bytes + 1);
      bar.update(bytes, { rows: rows.toLocaleString('en') });
    },
    clear: () => bar.stop(),
  };
}
