import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GatewayProcess } from './gateway-process.ts';
import { formatTenths, percentile } from './report.ts';

/** A stall is a delay of the event loop over this. */
const stallMs = 50;

/** For `startGateway`: logs the causes of delays, which only Linux counts. */
export const delayCausesOption = existsSync('/proc/thread-self/schedstat')
  ? `--import=${fileURLToPath(new URL('delay-causes.mjs', import.meta.url))}`
  : '';

/**
 * Reads the longest delay of a gateway's event loop in every second, which its metrics report since the last scrape. A
 * stall is the gateway's own if its main thread worked for as long; else it waited for a core that others used.
 */
export function watchEventLoop({ metricsUrl, log }: GatewayProcess) {
  const startedAt = performance.now();
  const seconds: { second: number; delayMs: number; endedAt: number }[] = [];
  const sampling = setInterval(() => void sample(), 1_000);

  return {
    stop: () => clearInterval(sampling),
    /** Rows of a table: what, measured, target. */
    rows(): string[][] {
      const delays = seconds.map(({ delayMs }) => delayMs);
      const stalls = seconds
        .filter(({ delayMs }) => delayMs > stallMs)
        .map((stall) => ({ ...stall, cause: findCause(stall.endedAt) }));
      const own = stalls.filter(({ cause }) => (cause?.ranMs ?? Number.POSITIVE_INFINITY) > stallMs);
      const listed = stalls
        .slice(0, 20)
        .map(({ second, delayMs, cause }) => `${formatTenths(delayMs)} at ${second.toFixed(0)} s${describe(cause)}`);
      return [
        [
          'longest delay of the event loop in a second, ms: p50, p99, max',
          [0.5, 0.99, 1].map((share) => formatTenths(percentile(delays, share))).join(', '),
          '',
        ],
        [`seconds with a delay over ${stallMs} ms`, `${stalls.length} of ${seconds.length}; ${listed.join('; ')}`, '0'],
        [`of these, with over ${stallMs} ms of the gateway's own work`, String(own.length), ''],
      ];
    },
  };

  async function sample(): Promise<void> {
    const second = (performance.now() - startedAt) / 1_000;
    const text = await fetch(metricsUrl ?? '').then((response) => response.text());
    const delay = Number(/^nodejs_eventloop_delay_max_seconds (\S+)$/m.exec(text)?.[1]);
    seconds.push({ second, delayMs: delay * 1_000, endedAt: Date.now() });
  }

  /** The longest delay that the gateway logged in the second before; undefined if it logged none. */
  function findCause(endedAt: number): Delay | undefined {
    return log
      .filter((line): line is Delay => 'delayMs' in line && line.time <= endedAt && line.time > endedAt - 1_100)
      .sort((one, other) => other.delayMs - one.delayMs)[0];
  }
}

type Delay = GatewayProcess['log'][number] & { delayMs: number; ranMs: number; waitedMs: number };

function describe(cause: Delay | undefined): string {
  return cause ? ` (worked ${formatTenths(cause.ranMs)}, waited for a core ${formatTenths(cause.waitedMs)})` : '';
}
