import { writeFileSync } from 'node:fs';
import { dashboardRows, type Panel } from './dashboard-rows.ts';

/* `npm run dashboard`: writes the Grafana dashboard. A test fails when the file and the code differ. */

export const dashboardFile = new URL('../deploy/grafana/dashboards/ledgerquill.json', import.meta.url);

export function printDashboard(): string {
  return `${JSON.stringify(createDashboard(), null, 2)}\n`;
}

function createDashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries(dashboardRows)) {
    panels.push({
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: 24, h: 1 },
      id: panels.length + 1,
    });
    y += 1;
    for (const [index, panel] of row.entries()) {
      const gridPos = { x: (index % 3) * 8, y: y + Math.floor(index / 3) * 8, w: 8, h: 8 };
      panels.push({ ...createPanel(panel), gridPos, id: panels.length + 1 });
    }
    y += Math.ceil(row.length / 3) * 8;
  }
  return {
    uid: 'ledgerquill',
    title: 'Ledgerquill',
    tags: ['ledgerquill'],
    schemaVersion: 39,
    editable: false,
    graphTooltip: 1,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        createVariable('job', 'label_values(ledgerquill_build_info, job)'),
        createVariable('instance', 'label_values(ledgerquill_build_info{job=~"$job"}, instance)'),
      ],
    },
    panels,
  };
}

function createPanel({ title, description, unit, lines, isStat = false }: Panel): object {
  return {
    type: isStat ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(lines).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      expr: expr.replaceAll('SELECT', 'job=~"$job", instance=~"$instance"'),
      legendFormat,
      ...(isStat && { instant: true }),
    })),
  };
}

function createVariable(name: string, query: string): object {
  const selection = { includeAll: true, multi: true, current: { text: 'All', value: '$__all' } };
  return { name, type: 'query', datasource, query, refresh: 2, sort: 1, ...selection };
}

const datasource = { type: 'prometheus', uid: '$datasource' };

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(dashboardFile, printDashboard());
