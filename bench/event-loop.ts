import { formatTenths, percentile } from './report.ts';

/** A stall is a delay of the event loop over this. */
const stallMs = 50;

/** Reads the longest delay of a gateway's event loop in every second, which its metrics report since the last scrape. */
export function watchEventLoop(metricsUrl: string) {
  const startedAt = performance.now();
  const seconds: { second: number; delayMs: number }[] = [];
  const sampling = setInterval(() => void sample(), 1_000);

  return {
    stop: () => clearInterval(sampling),
    /** Rows of a table: what, measured, target. */
    rows(): string[][] {
      const delays = seconds.map(({ delayMs }) => delayMs);
      const stalls = seconds.filter(({ delayMs }) => delayMs > stallMs);
      const listed = stalls
        .slice(0, 20)
        .map(({ second, delayMs }) => `${formatTenths(delayMs)} at ${second.toFixed(0)} s`);
      return [
        [
          'longest delay of the event loop in a second, ms: p50, p99, max',
          [0.5, 0.99, 1].map((share) => formatTenths(percentile(delays, share))).join(', '),
          '',
        ],
        [`seconds with a delay over ${stallMs} ms`, `${stalls.length} of ${seconds.length}; ${listed.join(', ')}`, '0'],
      ];
    },
  };

  async function sample(): Promise<void> {
    const second = (performance.now() - startedAt) / 1_000;
    const text = await fetch(metricsUrl).then((response) => response.text());
    const delay = Number(/^nodejs_eventloop_delay_max_seconds (\S+)$/m.exec(text)?.[1]);
    seconds.push({ second, delayMs: delay * 1_000 });
  }
}
