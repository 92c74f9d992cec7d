import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { monitorOrderRequests, tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tIban } from '../support/ibans.ts';
import { type GatewayClient, noUpstreams, sharing, tGatewayProcess, tReplicas } from '../support/process.ts';
import { type TRedis, tRedis, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';
import { tGate } from '../support/turns.ts';

/* Two gateways that share a Redis, which fails, or one of which stands still or ends. */

/** They make one call at a time: the second order waits in the queue. */
const twoReplicas = { REPLICAS: '2', UPSTREAM_CONCURRENCY: '1' };

const startReplicas = (redis: TRedis, essaysUrl: string) => tReplicas(redis, { essaysUrl, env: twoReplicas });

const startProcess = (redis: TRedis, essaysUrl: string) =>
  tGatewayProcess({ ...noUpstreams, ...sharing(redis), ...twoReplicas, ESSAY_URL: essaysUrl });

/** The first one is a process, to be killed. */
async function startWithProcess(redis: TRedis, essaysUrl: string) {
  const [other] = await startReplicas(redis, essaysUrl);
  return [await startProcess(redis, essaysUrl), other] as const;
}

function tClient(redis: TRedis): Redis {
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  return client;
}

/** The only entries that expire so soon. */
async function expireLeases(redis: Redis): Promise<void> {
  for (const key of await redis.keys('ledgerquill:value:*')) if ((await redis.pttl(key)) <= 2_000) await redis.del(key);
}

const settle = (order: Promise<unknown>) => order.then(() => 'essay', String);

describe.skipIf(whyNoRedis)(`two gateways that share a Redis${whyNoRedis}`, () => {
  it('pay once for an order in the queue, although one stood still until it was taken for dead', async () => {
    const redis = await tRedis();
    const gate = tGate();
    const write = ({ topic }: { topic: string }) => (topic === 'Long' ? gate.opened : Promise.resolve());
    const service = await tRecordingEssayService({ write });
    const [one, other] = await startWithProcess(redis, service.url);
    const untilRequests = await monitorOrderRequests(redis);
    const long = settle(one.order('Long', 'form-0'));
    await service.untilCalled();
    const before = new Set<string>();
    await untilRequests((requests) => requests.every(({ key }) => before.add(key)));
    const queued = settle(one.order('Pens', 'form-1'));
    await untilRequests((requests) => requests.some(({ kind, key }) => kind === 'read' && !before.has(key)));
    one.process.kill('SIGSTOP');
    await expireLeases(tClient(redis));
    const essay = await other.order('Pens', 'form-1');
    one.process.kill('SIGCONT');
    gate.open();
    expect(await long).toBe('essay');
    expect(await queued).toBe('essay');
    expect(await one.order('Pens', 'form-1')).toEqual(essay);
    expect(service.callsFor('Pens')).toHaveLength(1);
  });

  it('pay once for an order that was sent by a killed process, until a second payment is accepted', async () => {
    const redis = await tRedis();
    const client = tClient(redis);
    const gate = tGate();
    const service = await tRecordingEssayService({ write: () => gate.opened });
    const [one, other] = await startWithProcess(redis, service.url);
    const lost = settle(one.order('Pens', 'form-1'));
    await service.untilCalled();
    one.process.kill('SIGKILL');
    await lost;
    await expireLeases(client);
    gate.open();

    await expect(other.order('Pens', 'form-1')).rejects.toThrow('may have been paid for');
    expect(service.calls).toHaveLength(1);
    const essay = await other.order('Pens', 'form-1', { orderAgain: true });
    expect(await other.order('Pens', 'form-1')).toEqual(essay);
    expect(service.calls).toHaveLength(2);
  });

  it('order essays as a user that cannot delete all data, as docs/operations.md recommends', async () => {
    const redis = await tRedis();
    const [, user = ''] = /^user (ledgerquill .+)$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    await tClient(redis).call('ACL', 'SETUSER', ...user.split(' '));
    const url = redis.url.replace('redis://', 'redis://ledgerquill:PASSWORD@');
    const service = await tRecordingEssayService({ write: async () => {} });
    const [one, other] = await startReplicas({ ...redis, url }, service.url);
    expect(await other.order('Pens', 'form-1')).toEqual(await one.order('Pens', 'form-1'));
    expect(service.calls).toHaveLength(1);
    await expect(tClient({ ...redis, url }).call('FLUSHALL')).rejects.toThrow('NOPERM');
  });

  it('make no more calls than their allowance while it is down', async () => {
    const redis = await tRedis();
    const upstream = await tUpstream(replyJson(200, { valid: true }));
    const env = { ...twoReplicas, BANK_DATA_MONTHLY_ALLOWANCE: '50', UPSTREAM_CONCURRENCY: '16' };
    const replicas = await tReplicas(redis, { bankDataUrl: upstream.url, env });
    for (const replica of replicas) await replica.counted('BANK_DATA');
    await redis.stop();
    let account = 0;
    const query = (replica: GatewayClient) =>
      Promise.allSettled(
        Array.from({ length: 60 }, () => replica.ask(`{ ibanValidation(iban: "${tIban(account++)}") { valid } }`)),
      );
    await Promise.all(replicas.map(query));
    expect(upstream.calls.length).toBeGreaterThan(0);
    expect(upstream.calls.length).toBeLessThanOrEqual(50);
  });
});
