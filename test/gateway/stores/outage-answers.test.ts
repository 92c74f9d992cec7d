import { describe, expect, it, vi } from 'vitest';
import { as, tCallers } from '../../support/gateway/callers.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { tIban } from '../../support/ibans.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* What clients, load balancers and alerts see while Redis does not work: an outage, and not a limit that was not reached. */

async function tSite() {
  const redis = await tRedis();
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const env = {
    REDIS_URL: redis.url,
    STORE_SECRET: 'seeded-store-secret-of-32-characters',
    BANK_DATA_MONTHLY_ALLOWANCE: '1000',
    CALLER_BANK_DATA_CALLS: '50/month',
    METRICS_PORT: '0',
  };
  const callers = { anna: 'bank-data+essays', ben: 'bank-data+essays' };
  return { redis, upstream, start: () => tCallers({ callers, env, upstream }) };
}

type Gateway = Awaited<ReturnType<typeof tCallers>>;

/** The codes of an answer, and which of them clients may retry. */
async function ask(gateway: Gateway, name: string, query: string) {
  const { errors = [] } = (await gateway.send('directly', { query }, as(name))).json();
  return errors.map(({ extensions: { code, retryable } }) => [code, retryable]);
}

const validate = (account: number) => `{ ibanValidation(iban: "${tIban(account)}") { bankData { name } } }`;
const unavailable = [['UPSTREAM_UNAVAILABLE', true]];

async function readiness(gateway: Gateway) {
  const response = await fetch(`${gateway.origin}/ready`);
  return [response.status, ((await response.json()) as { status: string }).status];
}

describe.skipIf(whyNoRedis !== '')(`while Redis does not work${whyNoRedis}`, () => {
  it('a budget that was never read is not called exhausted, and one that was read goes on', async () => {
    const { redis, upstream, start } = await tSite();
    const gateway = await start();
    expect(await ask(gateway, 'anna', validate(1))).toEqual([]);
    await redis.stop();
    expect(await ask(gateway, 'ben', validate(2))).toEqual(unavailable);
    expect(await ask(gateway, 'anna', validate(3))).toEqual([]);
    expect(upstream.calls).toHaveLength(2);
    expect(await ask(gateway, 'ben', '{ allowances { service callerBudget { remaining } } }')).toEqual(unavailable);
    expect(await readiness(gateway)).toEqual([200, 'ready']);
    const metrics = await scrape(gateway.metricsUrl());
    expect(metrics.value('ledgerquill_budget_remaining', { caller: 'api-key:anna', service: 'bank-data' })).toBe(48);
    expect(
      metrics.value('ledgerquill_budget_remaining', { caller: 'api-key:ben', service: 'bank-data' }),
    ).toBeUndefined();
    const ended = (outcome: string) =>
      metrics.value('ledgerquill_upstream_operations_total', { service: 'bank-data', outcome });
    expect(['uncounted', 'exhausted', 'failed', 'shed'].map(ended)).toEqual([1, 0, 0, 0]);
  });

  it('a gateway that starts is not ready, answers so to all, and serves when Redis works', async () => {
    const { redis, upstream, start } = await tSite();
    await redis.stop();
    const gateway = await start();
    expect(await readiness(gateway)).toEqual([503, 'waiting for the store']);
    for (const name of ['anna', 'ben']) expect(await ask(gateway, name, validate(1))).toEqual(unavailable);
    expect(upstream.calls).toHaveLength(0);
    const metrics = await scrape(gateway.metricsUrl());
    expect(metrics.value('ledgerquill_allowance_remaining', { service: 'bank-data' })).toBeUndefined();
    await redis.restart();
    await vi.waitUntil(async () => (await readiness(gateway))[0] === 200, { timeout: 100_000 });
    for (const name of ['anna', 'ben']) expect(await ask(gateway, name, validate(1))).toEqual([]);
    expect(upstream.calls).toHaveLength(1);
  });

  it('orders and essays that cannot be read are unavailable, and no fault of the gateway', async () => {
    const { redis, start } = await tSite();
    const gateway = await start();
    await redis.stop();
    for (const query of [
      '{ essayOrder(id: "k4jx2x4fZ1y5C1yFhZbq3A") { id } }',
      '{ essayOrders { edges { node { id } } } }',
      '{ essay(id: "k4jx2x4fZ1y5C1yFhZbq3A") { text } }',
    ])
      expect([query, await ask(gateway, 'anna', query)]).toEqual([query, unavailable]);
    const log = gateway.log();
    expect(log).not.toContain('unexpected error');
    expect(log).not.toContain('"stack"');
    const subscription = { query: 'subscription { essayOrder(id: "k4jx2x4fZ1y5C1yFhZbq3A") { id } }' };
    const answer = await gateway.post(subscription, { ...as('anna'), accept: 'text/event-stream' });
    expect(String(answer.body)).toContain('"code":"UPSTREAM_UNAVAILABLE"');
  });
});
