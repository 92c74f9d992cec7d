// Redis's own names. cspell:ignore cmdstat commandstats
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRateLimit } from '../../../src/gateway/callers/rate-limit.ts';
import { redisUrl } from '../../../src/gateway/config/redis-url.ts';
import { openStore } from '../../../src/gateway/stores/open-store.ts';
import { ignore } from '../../../src/gateway/telemetry/events.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { type TRedis, tRawClient, tRedis, whyNoRedis } from '../../support/redis.ts';

function tRateLimit(redis: TRedis | null = null, replicas = 1) {
  const events: string[] = [];
  const storeEvents = { storeDown: ignore, storeUp: ignore, storeFailed: ignore, storeRisksChanged: ignore };
  const config = redis && { redis: redisUrl.parse(redis.url), secret: 'seeded-store-secret', replicas };
  const store = config && openStore(config, tFolder(), storeEvents).store;
  onTestFinished(() => store?.close());
  const rateLimit = createRateLimit({
    store,
    replicas: () => replicas,
    events: { rateLimitNotShared: (reason) => events.push(reason) },
  });
  return { count: ({ id, limit }: TCaller) => rateLimit.count(id, limit), events };
}

type TCaller = ReturnType<typeof tCaller>;
const tCaller = (id: string, limit: number) => ({ id, limit });

/** How many of the requests are permitted. */
async function permitted({ count }: RateLimit, caller: ReturnType<typeof tCaller>, requests: number) {
  const waits = await Promise.all(Array.from({ length: requests }, () => count(caller)));
  return waits.filter((wait) => wait === null).length;
}

type RateLimit = ReturnType<typeof tRateLimit>;

describe('a limit of requests per minute', () => {
  it('holds for each caller, and ends with its minute', async () => {
    vi.useFakeTimers({ now: new Date('2026-11-21T10:00:00Z') });
    const rateLimit = tRateLimit();
    expect(await permitted(rateLimit, tCaller('a', 10), 25)).toBe(10);
    vi.advanceTimersByTime(20_500);
    expect(await rateLimit.count(tCaller('a', 10))).toBe(40);
    expect(await permitted(rateLimit, tCaller('b', 10), 5)).toBe(5);
    expect(await permitted(rateLimit, tCaller('c', 3), 5)).toBe(3);
    vi.advanceTimersByTime(39_400);
    expect(await rateLimit.count(tCaller('a', 10))).toBe(1);
    vi.advanceTimersByTime(100);
    expect(await permitted(rateLimit, tCaller('a', 10), 25)).toBe(10);
    // Nothing that was counted ahead remains for the next minute.
    expect(await permitted(rateLimit, tCaller('d', 1_000), 30)).toBe(30);
    vi.advanceTimersByTime(60_000);
    expect(await permitted(rateLimit, tCaller('d', 1_000), 1_100)).toBe(1_000);
    vi.advanceTimersByTime(60_000);
    // Nothing remains of callers who no longer send requests.
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is the same for a clock that is set back within the minute, and holds again after a larger correction', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:05Z') });
    const rateLimit = tRateLimit();
    expect(await permitted(rateLimit, tCaller('a', 10), 25)).toBe(10);
    vi.setSystemTime('2026-11-21T09:59:55Z');
    expect(await rateLimit.count(tCaller('a', 10))).toBe(65);
    vi.setSystemTime('2026-11-21T09:00:00Z');
    expect(await permitted(rateLimit, tCaller('a', 10), 25)).toBe(10);
  });
});

describe.skipIf(whyNoRedis !== '')(`with Redis${whyNoRedis}`, () => {
  beforeEach(() => {
    // The minute does not end within a test.
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:00Z') });
  });

  it('is counted by all gateways together, and no name is readable in Redis', async () => {
    const redis = await tRedis();
    const replicas = [tRateLimit(redis, 2), tRateLimit(redis, 2)];
    const anna = tCaller('jwt:anna@example.com', 20);
    const counts = await Promise.all(replicas.map((replica) => permitted(replica, anna, 20)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
    expect(await replicas[0]?.count(anna)).toBeGreaterThan(50);
    expect(await permitted(tRateLimit(redis), tCaller('jwt:ben@example.com', 20), 5)).toBe(5);
    const client = tRawClient(redis);
    const keys = await client.keys('*');
    expect(keys.filter((key) => /^ledgerquill:counter:[\w-]{43}$/.test(key))).toHaveLength(2);
    for (const key of keys) {
      expect(key).not.toMatch(/anna|ben|example/);
      expect(await client.pttl(key)).toBeGreaterThan(0);
    }
  });

  it('is never exceeded, and reached but for a tenth, in any order of requests', async () => {
    const redis = await tRedis();
    const replicas = [tRateLimit(redis, 2), tRateLimit(redis, 2)];
    let runs = 0;
    const requests = fc.integer({ min: 1, max: 120 });
    const burst = fc.record({ replica: fc.nat(1), requests, isParallel: fc.boolean() });
    const bursts = fc.array(burst, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(1, 7, 100, 400), bursts, async (limit, bursts) => {
        runs += 1;
        const caller = tCaller(`caller-${runs}`, limit);
        let [passed, sent] = [0, 0];
        await Promise.all(
          bursts.map(async ({ replica, requests, isParallel }) => {
            const rateLimit = replicas[replica] ?? tRateLimit(redis, 2);
            sent += requests;
            const atOnce = isParallel ? requests : 1;
            for (let count = 0; count < requests; count += atOnce) {
              const more = await permitted(rateLimit, caller, atOnce);
              passed += more;
            }
          }),
        );
        expect(passed).toBeLessThanOrEqual(limit);
        expect(passed).toBeGreaterThanOrEqual(Math.min(sent, Math.ceil(0.9 * limit)));
      }),
      { numRuns: 40, seed: 7 },
    );
  });

  it('needs few calls to Redis far from the limit, and none for refused requests', async () => {
    const redis = await tRedis();
    const replicas = [tRateLimit(redis, 2), tRateLimit(redis, 2)];
    const client = tRawClient(redis);
    const calls = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    const caller = tCaller('a', 2_000);
    let waited = 0;
    for (let count = 0; count < 1_000; count += 1) {
      const counted = replicas[count % 2]?.count(caller);
      if (counted instanceof Promise) waited += 1;
      expect(await counted).toBeNull();
      // As between two requests of a network.
      if (count % 10 === 0) await client.ping();
    }
    expect(await calls()).toBeLessThan(60);
    expect(waited).toBeLessThan(30);
    const [first] = replicas;
    if (first) expect(await permitted(first, caller, 2_000)).toBeLessThanOrEqual(1_000);
    // The refused requests are subtracted before the request of another caller is counted.
    await first?.count(tCaller('b', 2_000));
    const before = await calls();
    for (let count = 0; count < 100; count += 1) expect(first?.count(caller)).toBeGreaterThan(0);
    expect(await calls()).toBe(before);
  });

  it("is each gateway's share while Redis is down", async () => {
    const redis = await tRedis();
    const replicas = [tRateLimit(redis, 3), tRateLimit(redis, 3), tRateLimit(redis, 3)];
    for (const replica of replicas) expect(await permitted(replica, tCaller('a', 30), 1)).toBe(1);
    await redis.stop();
    for (const replica of replicas) {
      expect(await permitted(replica, tCaller('b', 30), 30)).toBe(10);
      expect(await permitted(replica, tCaller('c', 2), 10)).toBe(1);
      expect(await replica.count(tCaller('b', 30))).toBeGreaterThan(50);
      expect(replica.events).toContain('not connected');
    }
    await redis.restart();
    const more = async () => permitted(replicas[0] as RateLimit, tCaller(String(Math.random()), 30), 30);
    await expect.poll(more).toBe(30);
  });
});
