import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { leaseMs } from '../../src/gateway/essays/orders/process-lease.ts';
import { tIban } from '../support/e2e/iban.ts';
import { isSeenByTwo, monitorOrderRequests } from '../support/e2e/order-requests.ts';
import { type RecordingEssayService, tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tGate } from '../support/gate.ts';
import { type GatewayClient, noUpstreams, sharing, tGatewayProcess, tReplicas } from '../support/gateway-process.ts';
import { type TRedis, tRedis, whyNoRedis } from '../support/redis.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Two gateways that share a Redis, which loses its data while they write essays, or one of which stands still or ends. */

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
  for (const key of await redis.keys('ledgerquill:value:*'))
    if ((await redis.pttl(key)) <= leaseMs) await redis.del(key);
}

const settle = (order: Promise<unknown>) => order.then(() => 'essay', String);

describe.skipIf(whyNoRedis)(`two gateways with a Redis that loses data${whyNoRedis}`, () => {
  async function expectQueuedOrderPaidOnce(
    redis: TRedis,
    service: RecordingEssayService,
    [one, other]: readonly [GatewayClient, GatewayClient],
    loseLocks: () => Promise<unknown>,
    /** Before the other gateway has the essay: the first one may have stored its order again, which then waits for the long one. */
    isWaitingForLong: boolean,
    endOutage: () => void,
  ): Promise<void> {
    const untilRequests = await monitorOrderRequests(redis);
    const long = settle(one.order('Long'));
    await service.untilCalled();
    const queued = settle(one.order('Pens', 'form-1'));
    // The order without a key is not stored.
    await untilRequests((requests) => requests.some(({ kind }) => kind === 'change'));

    await loseLocks();
    const elsewhere = other.order('Pens', 'form-1');
    await (isWaitingForLong ? untilRequests((requests) => isSeenByTwo(requests)) : elsewhere);
    endOutage();
    const essay = await elsewhere;
    expect(await long).toBe('essay');
    expect(await queued).toBe('essay');
    expect(await one.order('Pens', 'form-1')).toEqual(essay);
    expect(service.callsFor('Pens')).toHaveLength(1);
  }

  /** Writes about everything but what is long. */
  async function tQueue() {
    const gate = tGate();
    const write = ({ topic }: { topic: string }) => (topic === 'Long' ? gate.opened : Promise.resolve());
    return { redis: await tRedis(), gate, service: await tRecordingEssayService({ write }) };
  }

  it('pay once for an order in the queue after FLUSHALL', async () => {
    const { redis, gate, service } = await tQueue();
    const both = await startReplicas(redis, service.url);
    const loseLocks = () => tClient(redis).call('FLUSHALL');
    await expectQueuedOrderPaidOnce(redis, service, both, loseLocks, true, gate.open);
  });

  it('pay once for an order in the queue, although one stood still until its lease expired', async () => {
    const { redis, gate, service } = await tQueue();
    const [one, other] = await startWithProcess(redis, service.url);
    const standStill = async () => {
      one.process.kill('SIGSTOP');
      await expireLeases(tClient(redis));
    };
    await expectQueuedOrderPaidOnce(redis, service, [one, other], standStill, false, () => {
      one.process.kill('SIGCONT');
      gate.open();
    });
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

  it('pay once for an order that was sent, after FLUSHALL', async () => {
    const redis = await tRedis();
    const client = tClient(redis);
    const gate = tGate();
    const service = await tRecordingEssayService({ write: () => gate.opened });
    const [one, other] = await startReplicas(redis, service.url);
    const first = one.order('Pens', 'form-1');
    await service.untilCalled();
    await client.call('FLUSHALL');

    const untilRequests = await monitorOrderRequests(redis);
    const second = other.order('Pens', 'form-1');
    // The second gateway queues the order, and the first one stores that it has sent it.
    await untilRequests((requests) => isSeenByTwo(requests, 'change') || isSeenByTwo(requests, 'read'));
    gate.open();
    expect(await second).toEqual(await first);
    expect(service.calls).toHaveLength(1);
  });

  it('pay once for an order that was sent, after a restart without persistence', async () => {
    const redis = await tRedis();
    const gate = tGate();
    const service = await tRecordingEssayService({ write: () => gate.opened });
    const [one, other] = await startReplicas(redis, service.url);
    const first = one.order('Pens', 'form-1');
    await service.untilCalled();
    await redis.restart();

    const untilRequests = await monitorOrderRequests(redis);
    const second = other.order('Pens', 'form-1');
    // One of them stores the order, and the other one sees that.
    await untilRequests((requests) => isSeenByTwo(requests));
    gate.open();
    expect(await second).toEqual(await first);
    expect(service.calls).toHaveLength(1);
  });

  it('order essays as a user that cannot delete all data, as docs/stores.md recommends', async () => {
    const redis = await tRedis();
    const [, user = ''] = /^user (ledgerquill .+)$/m.exec(readFileSync('docs/stores.md', 'utf8')) ?? [];
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
