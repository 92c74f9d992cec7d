import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { whyNoPromtool } from '../gateway/telemetry/scrape.ts';
import { type GatewayProcess, tGatewayProcess } from '../gateway-process.ts';
import { tHaproxy, whyNoHaproxy } from '../haproxy.ts';
import { whyMissing } from '../installed.ts';
import { whyNoRedis } from '../redis.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';
import { type Prometheus, tPrometheus } from './prometheus.ts';

/* Gateways as they run in production: behind HAProxy, with Redis, scraped by a Prometheus with the alerts of `deploy`. */

/** For titles of tests: why they are skipped; empty if all programs are installed. */
export const whyNoSite = whyNoRedis || whyNoPromtool || whyNoHaproxy || whyMissing('prometheus');

export interface Site {
  /** Of HAProxy. */
  url: string;
  upstream: Upstream;
  /** They are started again on the same ports. */
  gateways: Replica[];
  prometheus: Prometheus;
  /** Topics of the essays that were written, and are paid for. */
  written: string[];
  /** Each time another one. */
  nextNumber(): number;
  /** A reply of the upstream about the IBAN that it was asked about, or with the essay that was ordered. */
  replyRight: Reply;
  /** Resolves when an essay is being written for one of the gateways, which takes 400 ms. */
  untilOrdering(): Promise<Replica>;
  /** Resolves when HAProxy sends requests to all gateways. */
  untilBalanced(): Promise<void>;
}

export interface Replica {
  /** Of the process that was started last. */
  current(): GatewayProcess;
  /** Resolves when it listens. */
  start(changedEnv?: Record<string, string>): Promise<void>;
  /** Resolves when it has ended after SIGTERM. */
  stop(): Promise<void>;
  ports: { PORT: number; METRICS_PORT: number };
  /** Begins an outage: what was printed before is not counted. */
  begin(): void;
  /** What its processes have printed since then, also those that did not start. */
  output(): string;
  /** The messages in that log at `warn` level or above. */
  problems(): string[];
  /** The failure of its store that /ready reports; null if it works, or if the process is not running. */
  storeFailure(): Promise<string | null>;
}

interface SiteOptions {
  env: Record<string, string>;
  /** By default 2. */
  replicas?: number;
  /** The length of a minute for Prometheus: by default 1,000 ms, so alerts fire 60 times as fast. */
  minuteMs?: number;
  /** Between two scrapes of Prometheus: by default a quarter of its minute, as in production. */
  intervalMs?: number;
}

export async function tSite({
  env,
  replicas = 2,
  minuteMs = 1_000,
  intervalMs = minuteMs / 4,
}: SiteOptions): Promise<Site> {
  const written: string[] = [];
  let numbers = 0;
  const replyRight: Reply = async (response, call) => {
    const iban = call.query.get('iban_number');
    if (iban !== null) return replyJson(200, { valid: true, iban, bank_data: { name: bankOf(iban) } })(response, call);
    const { description } = JSON.parse(call.body) as { description: string };
    written.push(description);
    await pause(writingMs);
    return replyJson(200, { essay: essayAbout(description) })(response, call);
  };
  const upstream = await tUpstream(replyRight);
  const shared = {
    BANK_DATA_URL: upstream.url,
    BANK_DATA_API_KEY: 'seeded-key-1',
    ESSAY_API_KEY: 'seeded-key-2',
    STORE_SECRET: 'seeded-secret-of-the-store',
    REPLICAS: String(replicas),
    // Longer than HAProxy needs to notice that /ready responds 503, also on a busy machine.
    SHUTDOWN_DELAY_MS: String(15 * checkEveryMs),
    ...env,
  };
  // Paths of their own show which of them has sent an order.
  const essayUrls = Array.from({ length: replicas }, (_, index) => `${upstream.url}/${index}`);
  const gateways = await Promise.all(essayUrls.map((ESSAY_URL) => tReplica({ ESSAY_URL, ...shared })));
  const portsOf = (name: 'PORT' | 'METRICS_PORT') => gateways.map(({ ports }) => ports[name]);
  const [prometheus, url] = await Promise.all([
    tPrometheus({ ports: portsOf('METRICS_PORT'), minuteMs, intervalMs }),
    tHaproxy(portsOf('PORT'), {
      serverTimeout: '60s',
      lines: [
        // Repeats only requests that could not be sent.
        'option redispatch 1',
        'balance roundrobin',
        'option httpchk GET /ready',
        // Otherwise a gateway of a busy machine would count as down.
        'timeout check 10s',
        `default-server check inter ${checkEveryMs}ms fall 2 rise 1`,
        `stats uri ${statsPath}`,
      ],
    }),
  ]);
  const untilOrdering = async () => {
    for (;;) {
      const { method, path } = await upstream.nextCall();
      const gateway = gateways[Number(path.split('/')[1])];
      if (method === 'POST' && gateway) return gateway;
    }
  };
  const nextNumber = () => numbers++;
  const untilBalanced = () =>
    vi.waitFor(async () => expect(await findServersUp(url)).toBe(replicas), { interval: 20, timeout: 100_000 });
  return { url, upstream, gateways, prometheus, written, nextNumber, replyRight, untilOrdering, untilBalanced };
}

/** Longer than an outage takes to begin. */
const writingMs = 400;

/** Different for each IBAN, so that an answer about another one would be noticed. */
export const bankOf = (iban: string) => `Bank of ${iban.slice(-10)}`;
export const essayAbout = (topic: string) => `${topic} leave a thought where others can find it. `.repeat(10).trim();

/** Resolves when it listens. */
async function tReplica(env: Record<string, string>): Promise<Replica> {
  const first = await tGatewayProcess({ ...env, METRICS_PORT: '0' });
  const [PORT, METRICS_PORT] = [first.origin, first.metricsUrl ?? ''].map((url) => Number(new URL(url).port)) as [
    number,
    number,
  ];
  const ports = { PORT, METRICS_PORT };
  const processes = [first];
  const failedStarts: string[] = [];
  let printedBefore: number[] = [];
  const current = () => processes.at(-1) as GatewayProcess;
  const output = () =>
    [...processes.map(({ process }, index) => process.stderr().slice(printedBefore[index] ?? 0)), ...failedStarts].join(
      '\n',
    );
  return {
    ports,
    current,
    async start(changedEnv = {}) {
      try {
        processes.push(
          await tGatewayProcess({ ...env, PORT: `${PORT}`, METRICS_PORT: `${METRICS_PORT}`, ...changedEnv }),
        );
      } catch (error) {
        failedStarts.push(String(error));
        throw error;
      }
    },
    async stop() {
      const { process } = current();
      process.kill('SIGTERM');
      expect(await process.ended).toEqual({ code: 0, signal: null });
    },
    begin() {
      printedBefore = processes.map(({ process }) => process.stderr().length);
      failedStarts.length = 0;
    },
    output,
    problems() {
      const lines = output()
        .split('\n')
        .filter((line) => line.startsWith('{'));
      const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
      return logged.filter(({ level }) => level >= 40).map(({ msg }) => msg);
    },
    async storeFailure() {
      const url = `${current().origin}/ready`;
      const response = await fetch(url, { headers: { connection: 'close' } }).catch(() => null);
      const { storeFailure = null } = ((await response?.json()) ?? {}) as { storeFailure?: string };
      return storeFailure;
    },
  };
}

const checkEveryMs = 200;

const statsPath = '/haproxy';

/** What HAProxy knows of its servers, as CSV: each one that receives requests has `UP` in its line. */
async function findServersUp(url: string): Promise<number> {
  const text = await (await fetch(`${url}${statsPath};csv`)).text();
  return text.split('\n').filter((line) => /^gateways,gateway-\d+,.*,UP,/.test(line)).length;
}
