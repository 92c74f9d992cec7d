import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { onFreePort } from '../free-port.ts';
import { tFolder } from '../gateway/stores/folder.ts';
import { tProcess } from '../process.ts';

/** A real Prometheus with the alert rules of `deploy`, in which a minute is shorter. */
export interface Prometheus {
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
const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

export async function tPrometheus({ ports, minuteMs, intervalMs }: Options): Promise<Prometheus> {
  const shorten = (text: string) =>
    text.replace(
      /^(\d+)([smh])$/,
      (_, count, unit) => `${(Number(count) * (unitsMs[unit] ?? 0) * minuteMs) / 60_000}ms`,
    );
  const readFile = (name: string) => readFileSync(new URL(name, folder), 'utf8');

  const rules = parse(readFile('alerts.yaml'));
  for (const rule of rules.groups[0].rules) {
    if (rule.for) rule.for = shorten(rule.for);
    rule.expr = rule.expr.replaceAll(/\[(\w+)\]/g, (_: string, range: string) => `[${shorten(range)}]`);
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
