import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboardFile } from '../../../scripts/print-dashboard.ts';
import { sha256 } from '../../support/gateway/callers/identify.ts';
import { drawDashboard } from '../../support/operations/draw-dashboard.ts';
import { startLoad } from '../../support/operations/load.ts';
import { playOutage } from '../../support/operations/outage.ts';
import { tSite, whyNoSite } from '../../support/operations/site.ts';
import { type Reply, replyJson } from '../../support/scripted-upstream.ts';

/* A gateway whose services fail: what clients and operators see of it, as docs/incidents.md says. */

const { panels } = JSON.parse(readFileSync(dashboardFile, 'utf8')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};

/** Replies so to calls of one method, and right to the others. */
function replyTo(method: 'GET' | 'POST', reply: Reply, replyRight: Reply): Reply {
  return (response, call) => (call.method === method ? reply : replyRight)(response, call);
}

describe.skipIf(whyNoSite)(`a gateway${whyNoSite}`, () => {
  it('continues while the bank-data service fails, and each panel of the dashboard has data', async () => {
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
    const { upstream, replyRight, prometheus, url } = site;
    const load = await startLoad(site, { headers: { authorization: `Bearer ${key}` } });
    await playOutage(site, load, {
      name: 'the bank-data service answers 500',
      begin: () => upstream.answers(replyTo('GET', replyJson(500, {}), replyRight)),
      during: async () => {
        const refused = await fetch(`${url}/graphql?query={__typename}`, { headers: { authorization: 'Bearer none' } });
        expect(refused.status).toBe(401);
        const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
        expect(queries.length).toBeGreaterThan(40);
        const empty = async () => {
          const results = await Promise.all(queries.map(({ expr }) => prometheus.queryRange(replaceVariables(expr))));
          return queries.filter((_, index) => results[index]?.flat().length === 0);
        };
        // A rate needs two scrapes.
        await expect.poll(empty).toEqual([]);
      },
      end: () => upstream.answers(replyRight),
    });
    const drawn = await Promise.all(
      panels
        .filter(({ targets }) => targets)
        .map(async ({ title, targets = [] }) => {
          const results = await Promise.all(targets.map(({ expr }) => prometheus.queryRange(replaceVariables(expr))));
          return { title, series: results.flat() };
        }),
    );
    expect(drawn.filter(({ series }) => series.flat().length === 0)).toEqual([]);
    const svg = drawDashboard('The bank-data service answers 500 for a while', drawn);
    expect(svg.match(/<polyline/g)?.length).toBeGreaterThanOrEqual(drawn.length);
    if (process.env.DASHBOARD_SVG) writeFileSync(process.env.DASHBOARD_SVG, svg);
  });

  it('sees that a service refuses calls, without a configured allowance', async () => {
    const site = await tSite({ env: {}, replicas: 1 });
    const { upstream, replyRight } = site;
    await playOutage(site, await startLoad(site), {
      name: 'the bank-data service answers 429, and no allowance is configured',
      begin: () => upstream.answers(replyTo('GET', replyJson(429, {}), replyRight)),
      end: () => upstream.answers(replyRight),
    });
  });

  it('sees that a service rejects its key', async () => {
    const site = await tSite({ env: {}, replicas: 1 });
    const { upstream, replyRight } = site;
    await playOutage(site, await startLoad(site), {
      name: 'the essay service answers 401',
      begin: () => upstream.answers(replyTo('POST', replyJson(401, {}), replyRight)),
      end: () => upstream.answers(replyRight),
    });
  });
});

/** As Grafana does: all jobs and instances, and the range of at least four scrapes. */
function replaceVariables(expression: string): string {
  return expression.replaceAll('$job', '.*').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1s');
}
