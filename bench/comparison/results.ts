import { formatTable, percentile } from '../report.ts';

/** One measurement of a server under a workload. */
export interface Result {
  round: number;
  server: string;
  workload: string;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server per request, in microseconds. */
  cpuUs: number;
  /** Upstream calls of one request after the load. */
  callsPerRequest: number;
  memoryMib: number;
  firstAnswerMs: number;
}

const columns = [
  'workload',
  'server',
  'requests/s',
  '× limit',
  'p50 ms',
  'p99 ms',
  'CPU µs per request',
  'upstream calls per request',
  'RSS MiB',
  'first answer ms',
];

/** A Markdown table of the medians of all rounds. Ratios are to the limit of the same round. */
export function formatResults(results: readonly Result[]): string {
  const groups = new Map<string, Result[]>();
  for (const result of results) {
    const key = `${result.workload} ${result.server}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return formatTable(
    columns,
    [...groups.values()].map((group) => formatGroup(group, results)),
  );
}

function formatGroup(group: readonly Result[], results: readonly Result[]): string[] {
  const median = (key: keyof Omit<Result, 'server' | 'workload'>) =>
    percentile(
      group.map((each) => each[key]),
      0.5,
    );
  const ratios = group.flatMap((result) => {
    const limit = findLimit(result, results);
    return limit === undefined ? [] : [result.requestsPerSecond / limit.requestsPerSecond];
  });
  const rate = median('requestsPerSecond');
  return [
    group[0]?.workload ?? '',
    group[0]?.server ?? '',
    rate.toFixed(rate < 100 ? 1 : 0),
    format(percentile(ratios, 0.5), 2),
    median('p50Ms').toFixed(2),
    median('p99Ms').toFixed(1),
    format(median('cpuUs'), 0),
    median('callsPerRequest').toFixed(0),
    format(median('memoryMib'), 0),
    median('firstAnswerMs').toFixed(0),
  ];
}

/** W3 needs no call, so its limit is the constant response if that was measured. */
function findLimit({ round, workload }: Result, results: readonly Result[]): Result | undefined {
  const others = results.filter((other) => other.round === round && other.workload === workload);
  return others.find(({ server }) => server === 'constant') ?? others.find(({ server }) => server === 'limit');
}

/** A dash where the value is unknown, or no request was completed. */
function format(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
}
