import { describe, it } from 'vitest';
import { startLoad } from '../../support/operations/load.ts';
import { expectLookUps, playOutage } from '../../support/operations/outage.ts';
import { tSite, whyNoSite } from '../../support/operations/site.ts';
import { tRedis, withClient } from '../../support/redis.ts';

/* Two gateways behind HAProxy without a Redis that works: what clients and operators see of it, as docs/incidents.md says. */

describe.skipIf(whyNoSite)(`two gateways${whyNoSite}`, () => {
  it('continue without a Redis that is stopped', async () => {
    const redis = await tRedis({ isDurable: true });
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'Redis is stopped',
      begin: redis.stop,
      end: () => redis.restart(),
    });
    expectLookUps(seen);
  });

  it('continue without a Redis that is full', async () => {
    const redis = await tRedis({ isDurable: true });
    const setMaxMemory = (bytes: number) => withClient(redis, (client) => client.config('SET', 'maxmemory', bytes));
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'Redis is full',
      begin: () => setMaxMemory(1),
      end: () => setMaxMemory(0),
    });
    expectLookUps(seen);
  });

  it('continue without a Redis that is restarted with another password', async () => {
    const redis = await tRedis({ isDurable: true, password: 'right' });
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const seen = await playOutage(site, await startLoad(site), {
      name: 'Redis is restarted with another password',
      begin: () => redis.restart('--requirepass', 'other'),
      end: () => redis.restart(),
    });
    expectLookUps(seen);
  });
});
