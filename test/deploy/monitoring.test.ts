import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { readRules } from '../../scripts/print-alerts.ts';
import { dashboardFile, printDashboard } from '../../scripts/print-dashboard.ts';
import { readOutages } from '../../scripts/print-outages.ts';
import { serviceNames } from '../../src/base/errors.ts';
import { definitions } from '../../src/gateway/telemetry/metrics/definitions.ts';
import { whyNoPromtool } from '../support/gateway/telemetry/scrape.ts';

interface PromqlUse {
  /** Names of the metrics. */
  metrics: string[];
  /** Labels by which series are grouped or joined. */
  groupedBy: string[];
  /** Values, also of regular expressions, by which series are selected. */
  selected: { metric: string; label: string; values: string[] }[];
}

/** The metrics and labels in a PromQL expression. @throws Error if it is not valid */
function parsePromql(expression: string): PromqlUse {
  const use: PromqlUse = { metrics: [], groupedBy: [], selected: [] };
  let label = '';
  parser.parse(expression).iterate({
    enter({ name, type, from, to, node }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not valid at character ${from}: ${expression}`);
      if (name === 'Identifier') use.metrics.push(text);
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') use.groupedBy.push(text);
      else if (name === 'LabelName') label = text;
      if (name === 'StringLiteral' && node.parent?.name === 'UnquotedLabelMatcher') {
        use.selected.push({ metric: use.metrics.at(-1) ?? '', label, values: text.slice(1, -1).split('|') });
      }
    },
  });
  return use;
}

/* What Prometheus and Grafana show of the gateway: only metrics that it has, and alerts with a remedy. */

const folder = new URL('../../deploy/prometheus/', import.meta.url);
const { alerts, recorded } = readRules();
const outages = readOutages();
const dashboard: Dashboard = JSON.parse(readFileSync(dashboardFile, 'utf8'));
const incidents = readFileSync(new URL('../../docs/incidents.md', import.meta.url), 'utf8');

const metrics: Readonly<Record<string, { labels: Labels } | undefined>> = definitions;

const expressions = [
  ...alerts.map(({ alert, expr }) => ({ title: alert, expr })),
  ...recorded.map(({ record, expr }) => ({ title: record, expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr }))),
];

describe('a query', () => {
  it.each(expressions)('names only metrics and labels that exist: $title', ({ expr }) => {
    // Grafana replaces its variables first.
    const { metrics: names, groupedBy, selected } = parsePromql(expr.replaceAll('$__rate_interval', '1m'));
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !labelsOf(name))).toEqual([]);
    const allLabels = names.flatMap((name) => Object.keys(labelsOf(name) ?? {}));
    expect(groupedBy.filter((label) => !allLabels.includes(label))).toEqual([]);
    for (const { metric, label, values } of selected) {
      const known = labelsOf(metric)?.[label];
      expect(known, `${metric}{${label}}`).toBeDefined();
      if (known) expect(known).toEqual(expect.arrayContaining(values));
    }
  });

  it('shows every metric on the dashboard', () => {
    const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    expect(Object.keys(definitions).filter((name) => !shown.includes(name))).toEqual([]);
  });
});

describe('an alert', () => {
  it.each(alerts)(
    'has a severity, a cause, a remedy, and a row in incidents.md: $alert',
    ({ alert, labels, annotations }) => {
      expect(labels.severity).toMatch(/^(critical|warning)$/);
      expect([annotations.cause, annotations.remedy].map((text) => text.length > 10)).toEqual([true, true]);
      const headings = [...incidents.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase());
      const [page, anchor = ''] = annotations.runbook_url.split('#');
      expect([page, headings]).toEqual(['docs/incidents.md', expect.arrayContaining([anchor.replaceAll('-', ' ')])]);
      expect(incidents).toContain(`\n| \`${alert}\` |`);
    },
  );
});

describe('an outage', () => {
  it.each([
    { length: 'for a minute', minutes: 1, firesWithin: 1 },
    { length: 'for five minutes', minutes: 5, firesWithin: 2 },
    { length: 'for ten minutes', minutes: 10, firesWithin: 2 },
  ])('$length is critical within $firesWithin min, and clears within 5 min', ({ length, minutes, firesWithin }) => {
    const replayed = outages.filter(({ name }) => name.includes(length) && !isSlowOnly.test(name));
    expect(replayed).not.toEqual([]);
    for (const { name, fired } of replayed) {
      const critical = fired.filter(({ isCritical }) => isCritical).map(({ from }) => from);
      expect(Math.min(...critical), name).toBeLessThanOrEqual(firesWithin);
      expect(Math.max(...critical), name).toBeLessThanOrEqual(2);
      expect(Math.max(...fired.map(({ to }) => to)), name).toBeLessThanOrEqual(minutes + 5);
    }
  });

  /** Nothing is lost. */
  const isSlowOnly = / answers after /;
});

describe('the dashboard', () => {
  it('is current: run npm run dashboard', () => {
    expect(readFileSync(dashboardFile, 'utf8')).toBe(printDashboard());
  });

  it('does not place one panel over another', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

it.skipIf(whyNoPromtool)(`passes promtool check config${whyNoPromtool}`, () => {
  const args = ['check', 'config', 'prometheus.yaml'];
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  expect({ status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') });
});

/** Undefined if the metric does not exist. */
type Labels = Readonly<Record<string, readonly string[] | null>>;

function labelsOf(name: string): Labels | undefined {
  // Prometheus adds these.
  const target = { job: null, instance: null };
  if (name === 'up') return target;
  if (recorded.some(({ record }) => record === name)) return { job: null, service: serviceNames };
  const { labels } = metrics[name] ?? metrics[name.replace(/_(bucket|count|sum)$/, '')] ?? {};
  return labels && { ...labels, ...target, ...(name.endsWith('_bucket') && { le: null }) };
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[]; gridPos: { x: number; y: number; w: number; h: number } }[];
}
