import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { tDisk, tFolder, whyNoMount } from '../support/gateway/stores/folder.ts';
import { expectLookUps, playOutage, replyTo } from '../support/operations/outage.ts';
import { type Replica, tSite, whyNoSite } from '../support/operations/site.ts';
import { tRedis, tRedisSentinel, withClient } from '../support/redis.ts';
import { replyJson } from '../support/scripted-upstream.ts';

/* Gateways behind HAProxy, one outage after the other: what clients and operators see of each, as docs/incidents.md says. */

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

  it('do not wait long for a Redis that is slow', async () => {
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

describe.skipIf(whyNoSite)(`a gateway with the embedded store${whyNoSite}`, () => {
  it.skipIf(whyNoMount)(
    `sees a refusal, a full disk, and a damaged file, which a backup replaces${whyNoMount}`,
    async () => {
      const [DATA_DIR, backup] = [tDisk(30_000, 32_768), join(tFolder(), 'backup')];
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

const pageBytes = 4_096;

/** Overwrites all pages but the first two, which have the sizes and the roots of the trees. */
function damagePages(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 2 * pageBytes));
}
