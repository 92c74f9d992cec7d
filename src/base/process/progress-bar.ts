import { SingleBar } from 'cli-progress';
import { countOf } from './terminal.ts';

export interface ProgressBar {
  show(progress: Progress): void;
  /** Removes the bar. */
  clear(): void;
}

/** How far a file was read. */
interface Progress {
  rows: number;
  /** What is counted in place of rows. */
  noun?: string;
  bytes: number;
  /** In bytes; null if it is unknown, as of a pipe. */
  size: number | null;
}

/**
 * Shows the rows that were read, their rate and the time left. Writes nothing if the stream is not a terminal.
 * @param verb such as `reading`
 */
export function createProgressBar(
  stream: NodeJS.WriteStream,
  verb: string,
  now: () => number = () => performance.now(),
): ProgressBar {
  if (!stream.isTTY) return { show() {}, clear() {} };
  const bar = new SingleBar({
    stream,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 30,
    format: `${verb} {bar} {percentage} % | {rows} | {rate}/s{left}`,
  });
  const startedAt = now();
  let isStarted = false;
  return {
    show({ rows, noun = 'row', bytes, size }) {
      const seconds = Math.max((now() - startedAt) / 1_000, 0.001);
      const rate = countOf(Math.round(rows / seconds), noun);
      const left = size === null || bytes === 0 ? '' : ` | ${describeTime((seconds * (size - bytes)) / bytes)} left`;
      const payload = { rows: countOf(rows, noun), rate, left };
      // Of unknown size: the bar always shows nearly 100 %.
      const total = size ?? bytes + 1;
      if (!isStarted) bar.start(total, 0, payload);
      isStarted = true;
      bar.setTotal(total);
      bar.update(bytes, payload);
    },
    clear: () => bar.stop(),
  };
}

function describeTime(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3_600 ? `${Math.round(whole / 60)} min` : `${Math.round(whole / 3_600)} h`;
}
