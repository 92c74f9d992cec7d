import { describe, expect, it } from 'vitest';
import { expectLookUps, playOutage } from '../../support/operations/outage.ts';
import { type Replica, tSite, whyNoSite } from '../../support/operations/site.ts';
import { tRedis, tRedisSentinel, withClient } from '../../support/redis.ts';

/* Two gateways behind HAProxy, one outage after the other: what clients and operators see of each, as docs/incidents.md says. */

describe.skipIf(whyNoSite)(`two gateways${whyNoSite}`, () => {
  it('continue while their Redis is down or full, or one of them is', async () => {
    const redis = await tRedis({ isDurable: true, password: 'right' });
    const site = await tSite({ env: { REDIS_URL: redis.url } });
    const [, second] = site.gateways as [Replica, Replica];
    const setMaxMemory = (bytes: number) => withClient(redis, (client) => client.config('SET', 'maxmemory', bytes));
    const stopped = await playOutage(site, {
      name: 'Redis is stopped',
      begin: redis.stop,
      end: () => redis.restart(),
    });
    expectLookUps(stopped);
    const full = await playOutage(site, {
      name: 'Redis is full',
      begin: () => setMaxMemory(1),
      end: () => setMaxMemory(0),
    });
    expectLookUps(full);
    const locked = await playOutage(site, {
      name: 'Redis is restarted with another password',
      begin: () => redis.restart({ password: 'other' }),
      end: () => redis.restart(),
    });
    expectLookUps(locked);
    await playOutage(site, {
      name: 'a gateway is restarted with another `STORE_SECRET`',
      begin: async () => {
        await second.stop();
        await expect(second.start({ STORE_SECRET: 'another-secret-than-before' })).rejects.toThrow('STORE_SECRET');
      },
      end: () => second.start(),
    });
    const lost = await playOutage(site, {
      name: 'Redis loses all data',
      load: { repeatsOrders: false },
      begin: () => withClient(redis, (client) => client.flushall()),
      end: () => {},
    });
    expectLookUps(lost);
    let killed: Replica | undefined;
    await playOutage(site, {
      name: 'one of two gateways is killed',
      load: { repeatsOrders: false },
      begin: (ordering) => {
        killed = ordering;
        killed.current().process.kill('SIGKILL');
      },
      end: () => killed?.start(),
      // The lock of the order that was being written lasts longer than the test.
      untilAllOrdered: false,
    });
  });

  it('use the new master after a failover, and each is restarted without a failed request', async () => {
    const { url, failOver } = await tRedisSentinel({ isDurable: true });
    // Failovers and restarts take some seconds, so that the alerts must not be faster than in production.
    const site = await tSite({ env: { REDIS_URL: url }, minuteMs: 60_000, intervalMs: 500 });
    const seen = await playOutage(site, {
      name: 'Sentinel replaces the master of Redis',
      begin: failOver,
      end: () => {},
    });
    expectLookUps(seen);
    const restarted = await playOutage(site, {
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
    expect(restarted.lookUps).toBeGreaterThan(50);
    expect(restarted.orders).toBeGreaterThan(10);
  });

  // On a machine that is busy for half a second, a command takes longer than a second, and Redis counts as down.
  it('do not wait long for a Redis that is slow', { retry: 2 }, async () => {
    const redis = await tRedis({ isDurable: true });
    // A scrape reads the counts, which takes longer than a second.
    const site = await tSite({ env: { REDIS_URL: redis.url }, minuteMs: 10_000 });
    const seen = await playOutage(site, {
      name: 'Redis answers after 500 ms',
      begin: () => redis.setDelay(500),
      end: () => redis.setDelay(0),
    });
    expectLookUps(seen);
  });
});
