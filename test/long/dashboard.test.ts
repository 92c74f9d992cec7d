import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardFile } from '../../scripts/print-dashboard.ts';
import { sha256 } from '../support/gateway/callers.ts';
import { playOutage, replyTo } from '../support/operations/outage.ts';
import { type Site, tSite, whyNoSite } from '../support/operations/site.ts';
import { replyJson } from '../support/scripted-upstream.ts';

/** A panel of the dashboard with the values of its queries. */
interface DrawnPanel {
  title: string;
  /** For each series, its values over time: seconds and value. */
  series: readonly (readonly (readonly [number, number])[])[];
}

/** Draws the panels as lines, four in a row, each from 0 to its largest value. The time of all of them is the same. */
function drawDashboard(title: string, panels: readonly DrawnPanel[]): string {
  const times = panels.flatMap(({ series }) => series.flat().map(([time]) => time));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const rows = Math.ceil(panels.length / columns);
  const drawn = panels.map((panel, index) => {
    const x = (index % columns) * (width + gap);
    const y = headHeight + Math.floor(index / columns) * (height + gap + titleHeight);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, first, last)}</g>`;
  });
  const size = [columns * (width + gap), headHeight + rows * (height + gap + titleHeight)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" role="img" font-family="sans-serif" font-size="11">
<title>${escapeText(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="4" y="18" font-size="14">${escapeText(title)}</text>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel({ title, series }: DrawnPanel, first: number, last: number): string {
  const highest = Math.max(0, ...series.flat().map(([, value]) => value));
  const toX = (time: number) => (((time - first) / (last - first || 1)) * width).toFixed(1);
  const toY = (value: number) => (height - (Math.max(0, value) / (highest || 1)) * height).toFixed(1);
  const lines = series.map((values, index) => {
    const points = values.map(([time, value]) => `${toX(time)},${toY(value)}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${colors[index % colors.length]}"/>`;
  });
  const label = `${title}: 0 to ${Number(highest.toPrecision(3)).toLocaleString('en')}`;
  const frame = `<rect y="${titleHeight}" width="${width}" height="${height}" fill="none" stroke="#ccc"/>`;
  return `<text y="12">${escapeText(label)}</text>${frame}<g transform="translate(0 ${titleHeight})">${lines.join('')}</g>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const columns = 4;
const [width, height, gap, titleHeight, headHeight] = [260, 90, 14, 18, 30];
const colors = ['#1f77b4', '#d62728', '#2ca02c', '#ff7f0e', '#9467bd', '#8c564b', '#17becf', '#7f7f7f'];

/* What clients and operators see of an outage, as docs/incidents.md says. The others are in outages.test.ts. */

const { panels } = JSON.parse(readFileSync(dashboardFile, 'utf8')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};

describe.skipIf(whyNoSite)(`a gateway${whyNoSite}`, () => {
  it('continues while its services fail, and each panel of the dashboard has data', async () => {
    const key = 'lq_seeded-key-of-the-shop';
    const site = await tSite({
      env: {
        GATEWAY_API_KEYS: `shop:${sha256(key)}:bank-data+essays`,
        CALLER_BANK_DATA_CALLS: '1000000/day',
        CALLER_ESSAY_CALLS: '1000000/day',
        BANK_DATA_MONTHLY_ALLOWANCE: '1000000000',
        BANK_DATA_PRICE: '0.01 EUR',
        ESSAY_MONTHLY_ALLOWANCE: '1000000000',
      },
      replicas: 1,
    });
    const { upstream, replyRight, url } = site;
    const load = { headers: { authorization: `Bearer ${key}` } };
    await playOutage(site, {
      name: 'the bank-data service answers 500',
      load,
      begin: () => upstream.answers(replyTo('GET', replyJson(500, {}), replyRight)),
      during: async () => {
        const refused = await fetch(`${url}/graphql?query={__typename}`, { headers: { authorization: 'Bearer none' } });
        expect(refused.status).toBe(401);
        // A rate needs two scrapes.
        await expect.poll(async () => (await readPanels(site)).filter(({ series }) => series.length === 0)).toEqual([]);
      },
      end: () => upstream.answers(replyRight),
    });
    const drawn = await readPanels(site);
    const svg = drawDashboard('The bank-data service answers 500 for a while', drawn);
    expect(svg.match(/<polyline/g)?.length).toBeGreaterThanOrEqual(drawn.length);
    if (process.env.DASHBOARD_SVG) writeFileSync(process.env.DASHBOARD_SVG, svg);
    await playOutage(site, {
      name: 'the essay service answers 401',
      load,
      begin: () => upstream.answers(replyTo('POST', replyJson(401, {}), replyRight)),
      end: () => upstream.answers(replyRight),
    });
  });
});

/** The panels with the values of their queries until now. */
function readPanels({ prometheus }: Site) {
  return Promise.all(
    panels.flatMap(({ title, targets }) =>
      targets === undefined
        ? []
        : [
            Promise.all(targets.map(({ expr }) => prometheus.queryRange(replaceVariables(expr)))).then((results) => ({
              title,
              series: results.flat(),
            })),
          ],
    ),
  );
}

/** As Grafana does: all jobs and instances, and the range of at least four scrapes. */
function replaceVariables(expression: string): string {
  return expression.replaceAll('$job', '.*').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1s');
}
