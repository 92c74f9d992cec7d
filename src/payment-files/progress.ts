import { SingleBar } from 'cli-progress';

export interface ProgressBar {
  show(progress: Progress): void;
  /** Removes the bar. */
  clear(): void;
}

interface Progress {
  /** Number of rows, or of what `noun` says. */
  rows: number;
  noun?: string;
  /** Bytes that were read. */
  bytes: number;
  /** In bytes; null if it is unknown. */
  size: number | null;
}

/** Shows the rows that were read, their rate and the time left. Writes nothing if the stream is not a terminal. */
export function createProgressBar(stream: NodeJS.WriteStream, now: () => number = Date.now): ProgressBar {
  if (!stream.isTTY) return { show() {}, clear() {} };
  const bar = new SingleBar({
    stream,
    clearOnComplete: true,
    hideCursor: true,
    barsize: 30,
    format: 'checking {bar} {percentage} % | {rows} {noun} | {rate} {noun}/s{left}',
  });
  const startedAt = now();
  let isStarted = false;
  return {
    show({ rows, noun = 'rows', bytes, size }) {
      const seconds = Math.max((now() - startedAt) / 1_000, 0.001);
      const rate = Math.round(rows / seconds).toLocaleString('en');
      const left = size === null || bytes === 0 ? '' : ` | ${describeTime((seconds * (size - bytes)) / bytes)} left`;
      const payload = { rows: rows.toLocaleString('en'), noun, rate, left };
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
