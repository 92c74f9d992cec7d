import { describe, expect, it } from 'vitest';
import { startLoad } from '../../support/operations/load.ts';
import { playOutage } from '../../support/operations/outage.ts';
import { type Replica, tSite, whyNoSite } from '../../support/operations/site.ts';
import { tRedis } from '../../support/redis.ts';

/* Gateways behind HAProxy that end and start: what clients and operators see of it, as docs/incidents.md says. */

describe.skipIf(whyNoSite)(`of two gateways${whyNoSite}`, () => {
  it('one is killed, and the other one answers', async () => {
    const redis = await tRedis();
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    let killed: Replica | undefined;
    await playOutage(site, await startLoad(site, { repeatsOrders: false }), {
      name: 'one of two gateways is killed',
      begin: (ordering) => {
        killed = ordering;
        killed.current().process.kill('SIGKILL');
      },
      end: () => killed?.start(),
      // The lock of the order that was being written lasts longer than the test.
      untilAllOrdered: false,
    });
  });

  it('each is restarted, and no request fails', async () => {
    const redis = await tRedis();
    const site = await tSite({ env: { REDIS_URL: redis.url }, minuteMs: 60_000, intervalMs: 500 });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'both gateways are restarted, one after the other',
      begin: async () => {
        for (const gateway of site.gateways) {
          await gateway.stop();
          await gateway.start();
          await site.untilBalanced();
        }
      },
      end: () => {},
    });
    expect(seen.lookUps).toBeGreaterThan(50);
    expect(seen.orders).toBeGreaterThan(10);
  });

  it('one does not start with another secret, and the other one answers', async () => {
    const redis = await tRedis();
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const [, second] = site.gateways as [Replica, Replica];
    await playOutage(site, await startLoad(site), {
      name: 'a gateway is restarted with another `STORE_SECRET`',
      begin: async () => {
        await second.stop();
        await expect(second.start({ STORE_SECRET: 'another-secret-than-before' })).rejects.toThrow('STORE_SECRET');
      },
      end: () => second.start(),
    });
  });
});
