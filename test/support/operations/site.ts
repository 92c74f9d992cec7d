import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { tFolder } from '../gateway/stores/folder.ts';
import { whyNoPromtool } from '../gateway/telemetry/scrape.ts';
import { onFreePort } from '../loopback.ts';
import { type GatewayProcess, tGatewayProcess, tHaproxy, tProcess, whyMissing, whyNoHaproxy } from '../process.ts';
import { whyNoRedis } from '../redis.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';

/** A real Prometheus with the alert rules of `deploy`, in which a minute is shorter. */
interface Prometheus {
  /** An instant query. @returns the labels and the value of each series */
  query(expression: string): Promise<Series[]>;
  /** A query of a panel, from the start of Prometheus until now. @returns for each series, its times in seconds and values */
  queryRange(expression: string): Promise<[number, number][][]>;
  /** Names of the alerts that fire now, without `Ledgerquill`, in alphabetical order. */
  firing(): Promise<string[]>;
  /** Names of all alerts that have fired since a time. */
  fired(sinceMs: number): Promise<string[]>;
  /** Resolves when it has scraped all gateways: it begins 5 s after its start. */
  untilScraped(): Promise<void>;
}

interface Series {
  metric: Record<string, string>;
  value: number;
}

interface Options {
  /** Ports of the metrics of the gateways. */
  ports: readonly number[];
  /** All durations of the rules are shortened, as if a minute were that long. */
  minuteMs: number;
  /** Time between two scrapes, and between two evaluations. */
  intervalMs: number;
}

const folder = new URL('../../../deploy/prometheus/', import.meta.url);
const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

async function tPrometheus({ ports, minuteMs, intervalMs }: Options): Promise<Prometheus> {
  const shorten = (text: string) =>
    text.replace(
      /^(\d+)([a-z])$/,
      (_, count, unit) => `${(Number(count) * (unitsMs[unit] ?? 0) * minuteMs) / 60_000}ms`,
    );
  const readFile = (name: string) => readFileSync(new URL(name, folder), 'utf8');

  const rules = parse(readFile('alerts.yaml'));
  for (const group of rules.groups) {
    if (group.interval) group.interval = shorten(group.interval);
    for (const rule of group.rules) {
      if (rule.for) rule.for = shorten(rule.for);
      rule.expr = rule.expr.replaceAll(/\[(\w+)\]/g, (_: string, range: string) => `[${shorten(range)}]`);
    }
  }
  const config = parse(readFile('prometheus.yaml'));
  const interval = `${intervalMs}ms`;
  config.global = { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval };
  // In place of the names of the services.
  const { dns_sd_configs: _, ...job } = config.scrape_configs[0];
  config.scrape_configs = [{ ...job, static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }] }];

  const data = tFolder();
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, 'alerts.yaml'), stringify(rules));
  writeFileSync(join(data, 'prometheus.yaml'), stringify(config));
  const startedAt = Date.now();
  const { server: prometheus, port } = await onFreePort(async (port) => {
    const server = tProcess('prometheus', [
      `--config.file=${join(data, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(data, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--query.lookback-delta=${shorten('5m')}`,
    ]);
    await server.responds(`http://127.0.0.1:${port}/-/ready`);
    return server;
  });
  const url = `http://127.0.0.1:${port}`;

  async function request<Result>(path: string, parameters: Record<string, string>): Promise<Result[]> {
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(parameters) });
    const { data, error } = (await response.json()) as { data?: { result: Result[] }; error?: string };
    if (!data) throw new Error(`${parameters.query}: ${error}`);
    return data.result;
  }

  async function query(expression: string): Promise<Series[]> {
    const results = await request<{ metric: Series['metric']; value: [number, string] }>('query', {
      query: expression,
    });
    return results.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  async function alerts(expression: string): Promise<string[]> {
    const results = await query(expression);
    return results.map(({ metric: { alertname = '' } }) => alertname.replace('Ledgerquill', '')).toSorted();
  }

  return {
    query,
    async queryRange(expression) {
      const [start, end] = [startedAt, Date.now()].map((timeMs) => String(timeMs / 1_000)) as [string, string];
      const range = { query: expression, start, end, step: interval };
      const results = await request<{ values: [number, string][] }>('query_range', range);
      return results.map(({ values }) =>
        values
          .map(([time, value]): [number, number] => [time, Number(value)])
          .filter(([, value]) => Number.isFinite(value)),
      );
    },
    firing: () => alerts('group by (alertname) (ALERTS{alertstate="firing"})'),
    fired: (sinceMs) =>
      alerts(`group by (alertname) (last_over_time(ALERTS{alertstate="firing"}[${Date.now() - sinceMs}ms]))`),
    async untilScraped() {
      const isScraped = async () => expect(await query('up == 1'), prometheus.stderr()).toHaveLength(ports.length);
      await vi.waitFor(isScraped, { interval: 50, timeout: 100_000 });
    },
  };
}

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
