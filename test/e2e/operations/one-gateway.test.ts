import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dashboardFile } from '../../../scripts/print-dashboard.ts';
import { runCommand } from '../../support/command.ts';
import { tDisk, whyNoMount } from '../../support/disk.ts';
import { sha256 } from '../../support/gateway/callers/identify.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { drawDashboard } from '../../support/operations/draw-dashboard.ts';
import { playOutage } from '../../support/operations/outage.ts';
import { type Replica, type Site, tSite, whyNoSite } from '../../support/operations/site.ts';
import { type Reply, replyJson } from '../../support/scripted-upstream.ts';

/* One gateway with the embedded store, one outage after the other: what clients and operators see of each, as docs/incidents.md says. */

const { panels } = JSON.parse(readFileSync(dashboardFile, 'utf8')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};

/** Replies so to calls of one method, and right to the others. */
function replyTo(method: 'GET' | 'POST', reply: Reply, replyRight: Reply): Reply {
  return (response, call) => (call.method === method ? reply : replyRight)(response, call);
}

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

  it.skipIf(whyNoMount)(
    `sees a refusal, a full disk, and a damaged file, which a backup replaces${whyNoMount}`,
    async () => {
      const [DATA_DIR, backup] = [tDisk(30_000), join(tFolder(), 'backup')];
      const site = await tSite({ env: { DATA_DIR }, replicas: 1 });
      const { upstream, replyRight } = site;
      await playOutage(site, {
        name: 'the bank-data service answers 429, and no allowance is configured',
        begin: () => upstream.answers(replyTo('GET', replyJson(429, {}), replyRight)),
        end: () => upstream.answers(replyRight),
      });
      const filler = join(DATA_DIR, 'filler');
      await playOutage(site, {
        name: 'the disk of the embedded store is full',
        begin: () => {
          const { bavail, bsize } = statfsSync(DATA_DIR);
          writeFileSync(filler, Buffer.alloc(bavail * bsize - 50_000));
        },
        end: () => rmSync(filler),
      });
      const [gateway] = site.gateways as [Replica];
      await playOutage(site, {
        name: 'the embedded store is damaged, and the only gateway is restarted',
        begin: async () => {
          await gateway.stop();
          expect((await runCommand(['backup', backup], { DATA_DIR })).code).toBe(0);
          damagePages(join(DATA_DIR, 'store-1.lmdb'));
          await expect(gateway.start()).rejects.toThrow('damaged pages');
        },
        end: async () => {
          rmSync(join(DATA_DIR, 'store-1.lmdb'));
          expect((await runCommand(['restore', backup, '--replace'], { DATA_DIR })).code).toBe(0);
          await gateway.start();
        },
      });
    },
  );
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

const pageBytes = 4_096;

/** Overwrites all pages but the first two, which have the sizes and the roots of the trees. */
function damagePages(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 2 * pageBytes));
}
