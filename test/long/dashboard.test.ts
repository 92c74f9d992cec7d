import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardFile } from '../../scripts/print-dashboard.ts';
import { sha256 } from '../support/gateway/callers/identify.ts';
import { drawDashboard } from '../support/operations/draw-dashboard.ts';
import { playOutage, replyTo } from '../support/operations/outage.ts';
import { type Site, tSite, whyNoSite } from '../support/operations/site.ts';
import { replyJson } from '../support/scripted-upstream.ts';

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
