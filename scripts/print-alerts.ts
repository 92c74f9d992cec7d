import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { definitions } from '../src/gateway/telemetry/metrics/definitions.ts';

/* The alerts of deploy/prometheus/alerts.yaml, as the rows of a table. */

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; cause: string; remedy: string; runbook_url: string };
}

interface Recorded {
  record: string;
  expr: string;
}

/** The alerts, and the series that Prometheus records for them. */
export function readRules(): { alerts: Alert[]; recorded: Recorded[] } {
  const text = readFileSync(new URL('../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8');
  const rules: (Alert | Recorded)[] = parse(text).groups.flatMap(({ rules }: { rules: (Alert | Recorded)[] }) => rules);
  return {
    alerts: rules.filter((rule) => 'alert' in rule),
    recorded: rules.filter((rule) => 'record' in rule),
  };
}

/** The rows of the alerts whose runbook is this heading of docs/incidents.md. */
export function describeAlerts(heading: string): string[][] {
  const url = `docs/incidents.md#${heading.toLowerCase().replaceAll(' ', '-')}`;
  const { alerts, recorded } = readRules();
  const isShown = (name: string) =>
    name === 'up' || name in definitions || recorded.some(({ record }) => record === name);
  const shown = alerts.filter(({ annotations }) => annotations.runbook_url === url);
  return shown.map(({ alert, expr, labels, annotations: { cause, remedy } }) => {
    const names = (expr.match(/[\w:]+/g) ?? []).map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    const metrics = new Set(names.filter(isShown));
    const metricCell = [...metrics].map((name) => `\`${name}\``).join(', ');
    return [`\`${alert}\``, labels.severity, metricCell, link(cause), link(remedy)];
  });
}

/** In a notification, a page is its path; in the table, a link. */
function link(text: string): string {
  return text.replaceAll(/docs\/([\w-]+)\.md(#[\w-]+)?/g, (_, page, anchor = '') => `[${page}](${page}.md${anchor})`);
}
