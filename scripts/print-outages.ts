import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/* The replayed outages of deploy/prometheus/outages.test.yaml, as the rows of a table. */

/** When the outages begin. */
const beginMinutes = 40;

interface Replay {
  name: string;
  /** Each alert with the minutes from the beginning of the outage to the first, and to the last evaluation. */
  promql_expr_test: [Firing, Firing];
}

interface Firing {
  eval_time: string;
  exp_samples: { labels: string; value: number }[];
}

export interface Outage {
  name: string;
  /** In minutes from the beginning of the outage; `to` is infinite if it still fires at the end of the test. */
  fired: { alert: string; isCritical: boolean; from: number; to: number }[];
}

export function readOutages(): Outage[] {
  const file = new URL('../deploy/prometheus/outages.test.yaml', import.meta.url);
  const { tests }: { tests: Replay[] } = parse(readFileSync(file, 'utf8'));
  return tests.map(readOutage);
}

function readOutage({ name, promql_expr_test: [first, last] }: Replay): Outage {
  const end = Number.parseInt(last.eval_time, 10) - beginMinutes;
  const fired = first.exp_samples.map(({ labels, value }) => {
    const lastValue = last.exp_samples.find((sample) => sample.labels === labels)?.value ?? Number.NaN;
    return {
      alert: /alertname="Ledgerquill(\w+)"/.exec(labels)?.[1] ?? '',
      isCritical: labels.includes('severity="critical"'),
      from: value,
      // It clears at the next evaluation.
      to: lastValue < end ? lastValue + 0.25 : Number.POSITIVE_INFINITY,
    };
  });
  return { name, fired: fired.toSorted((one, other) => one.from - other.from) };
}

/** Alerts of two instances at the same times are written once. */
export function describeOutage({ name, fired }: Outage): string[] {
  const texts = fired.map(({ alert, isCritical, from, to }) => {
    const times = Number.isFinite(to)
      ? `${formatMinutes(from)} to ${formatMinutes(to)}`
      : `from ${formatMinutes(from)}`;
    return `\`${alert}\`${isCritical ? '' : ' (w)'} ${times}`;
  });
  return [name, [...new Set(texts)].join(', ') || 'none'];
}

function formatMinutes(minutes: number): string {
  return `${Math.floor(minutes)}:${String((minutes % 1) * 60).padStart(2, '0')}`;
}
