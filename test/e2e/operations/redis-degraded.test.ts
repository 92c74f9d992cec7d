import { describe, it } from 'vitest';
import { startLoad } from '../../support/operations/load.ts';
import { expectLookUps, playOutage } from '../../support/operations/outage.ts';
import { tSite, whyNoSite } from '../../support/operations/site.ts';
import { tSlowProxy } from '../../support/operations/slow-proxy.ts';
import { tRedis, tRedisSentinel, withClient } from '../../support/redis.ts';

/* Two gateways behind HAProxy whose Redis is slow, is replaced or loses data: what clients and operators see of it, as docs/incidents.md says. */

describe.skipIf(whyNoSite)(`two gateways${whyNoSite}`, () => {
  // On a machine that is busy for half a second, a command takes longer than a second, and Redis counts as down.
  it('do not wait long for a Redis that is slow', { retry: 2 }, async () => {
    const redis = await tRedis({ isDurable: true });
    const proxy = await tSlowProxy(redis.port);
    const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
    // A scrape reads the counts, which takes longer than a second.
    const site = await tSite({ env, minuteMs: 10_000 });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'Redis answers after 500 ms',
      begin: () => proxy.setDelay(500),
      end: () => proxy.setDelay(0),
    });
    expectLookUps(seen);
  });

  it('use the new master after a failover', async () => {
    const { url, failOver } = await tRedisSentinel({ isDurable: true });
    // A failover takes some seconds, so that the alerts must not be faster than in production.
    const site = await tSite({ env: { REDIS_URL: url }, minuteMs: 60_000, intervalMs: 500 });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'Sentinel replaces the master of Redis',
      begin: failOver,
      end: () => {},
    });
    expectLookUps(seen);
  });

  it('restore the counts of a Redis that loses all data', async () => {
    const redis = await tRedis({ isDurable: true });
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const seen = await playOutage(site, await startLoad(site, { repeatsOrders: false }), {
      name: 'Redis loses all data',
      begin: () => withClient(redis, (client) => client.flushall()),
      end: () => {},
    });
    expectLookUps(seen);
  });
});
