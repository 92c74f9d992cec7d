import { expect, vi } from 'vitest';
import { type TProcess, tScript } from '../process.ts';
import { type Scraped, scrape } from '../telemetry/scrape.ts';

export type LogLine = Record<string, unknown> & { msg: string; level: number };

/** The process of a gateway, with all that an operator can see of it. */
export interface ObservedGateway {
  process: TProcess;
  url: string;
  scrape(): Promise<Scraped>;
  /** Repeats the scrape until this is true. */
  scrapeUntil(isTrue: (scraped: Scraped) => boolean): Promise<Scraped>;
  /** All lines so far. Each is a JSON object. */
  log(): LogLine[];
  /** Waits for the line of this request. @returns the lines since the last call, that one included */
  logUntil(requestId: string): Promise<LogLine[]>;
  /** Sets the clock of the process 30 s forward. */
  advanceClock(): Promise<void>;
  /** The texts of all scrapes. */
  scraped(): string;
}

/** Resolves when the process listens. */
export async function tObservedGateway(env: Record<string, string>): Promise<ObservedGateway> {
  const process = tScript('src/main.ts', { PORT: '0', METRICS_PORT: '0', NODE_OPTIONS: movableClock, ...env });
  const pattern = /GraphiQL +(\S+)\/graphql\n +metrics +(\S+)\n[\s\S]*to stop .*\n/;
  const [, url = '', metricsUrl = ''] = await process.printed(pattern);
  const scrapes: string[] = [];
  let read = 0;
  let aheadS = 0;

  async function scrapeOnce(): Promise<Scraped> {
    const scraped = await scrape(metricsUrl);
    scrapes.push(scraped.text);
    return scraped;
  }

  /** The last line may be incomplete. */
  const log = () =>
    process
      .stderr()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine);

  return {
    process,
    url,
    scrape: scrapeOnce,
    async scrapeUntil(isTrue) {
      let scraped = await scrapeOnce();
      const isReached = async () => {
        scraped = await scrapeOnce();
        return isTrue(scraped);
      };
      if (!isTrue(scraped)) await vi.waitUntil(isReached, { interval: 5, timeout: 20_000 });
      return scraped;
    },
    log,
    async logUntil(requestId) {
      const isLast = (line: LogLine) => line.msg === 'request' && line.requestId === requestId;
      await vi.waitUntil(() => log().some(isLast), { interval: 5, timeout: 20_000 });
      const end = log().findIndex(isLast) + 1;
      expect(end).toBeGreaterThan(read);
      const lines = log().slice(read, end);
      read = end;
      return lines;
    },
    async advanceClock() {
      aheadS += clockStepS;
      process.kill('SIGUSR2');
      await process.printed(new RegExp(`clock: ${aheadS} s ahead\\n`));
    },
    scraped: () => scrapes.join(''),
  };
}

const clockStepS = 30;

/** Each SIGUSR2 sets the clock forward, so that a test needs no real minute. Timers and durations are not affected. */
const movableClock = `--import=data:text/javascript,${encodeURIComponent(`
  const now = Date.now;
  let aheadS = 0;
  Date.now = () => now() + 1_000 * aheadS;
  process.on('SIGUSR2', () => {
    aheadS += ${clockStepS};
    process.stdout.write('clock: ' + aheadS + ' s ahead\\n');
  });
`)}`;
