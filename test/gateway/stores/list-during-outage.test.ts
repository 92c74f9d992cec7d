import { describe, expect, it, onTestFinished } from 'vitest';
import { tGateway } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { tRawClient, tRedis, whyNoRedis } from '../../support/redis.ts';
import { type Reply, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* Lists while Redis, where gateways share their look-ups, does not work: each IBAN has its own answer, and is paid for once. */

const ibans = Array.from({ length: 120 }, (_, index) => tIban(index % 60));
const query = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban bankData { name } } }';
const expected = { ibanValidations: ibans.map((iban) => ({ iban, bankData: { name: `Bank of ${iban}` } })) };

const replyWithBank: Reply = (response, call) => {
  const iban = call.query.get('iban_number');
  return replyJson(200, { valid: true, iban, bank_data: { name: `Bank of ${iban}` } })(response, call);
};

type Redis = Awaited<ReturnType<typeof tRedis>>;

const outages: [string, (redis: Redis) => unknown][] = [
  ['is stopped', (redis) => redis.stop()],
  ['does not answer', (redis) => redis.freeze()],
  ['answers too late', (redis) => redis.setDelay(600_000)],
  ['is full', fill],
  ['has lost its data', (redis) => redis.restart()],
  ['has another password', (redis) => redis.restart({ password: 'another' })],
];

async function fill(redis: Redis): Promise<void> {
  const client = tRawClient(redis);
  await client.config('SET', 'maxmemory', '1');
  onTestFinished(async () => void (await client.config('SET', 'maxmemory', '0')));
}

async function tSite(redis: Redis) {
  const upstream = await tUpstream(replyWithBank);
  const env = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters' };
  return { upstream, start: () => tGateway({ bankDataUrl: upstream.url, env }) };
}

describe.skipIf(whyNoRedis !== '')(`a list is answered, and each IBAN paid for once,${whyNoRedis}`, () => {
  it.each(outages)('while Redis %s', async (_, breakRedis) => {
    const redis = await tRedis();
    const { upstream, start } = await tSite(redis);
    const gateway = start();
    const shared = { ibans: ibans.slice(0, 10) };
    await gateway.ask(query, shared);
    expect(upstream.calls).toHaveLength(10);
    await breakRedis(redis);
    // Redis is still broken when each of them has arrived.
    expect(await gateway.ask(query, { ibans })).toEqual({ data: expected });
    expect(upstream.calls).toHaveLength(60);
    expect(await gateway.ask(query, { ibans })).toEqual({ data: expected });
    expect(upstream.calls).toHaveLength(60);
  });

  it('if Redis fails while the list is looked up', async () => {
    const redis = await tRedis();
    const { upstream, start } = await tSite(redis);
    const [one, other] = [start(), start()];
    upstream.answers(async (response, call) => {
      if (upstream.calls.length === 30) await redis.stop();
      return replyWithBank(response, call);
    });
    expect(await one.ask(query, { ibans })).toEqual({ data: expected });
    expect(upstream.calls).toHaveLength(60);
    // What was not written there is looked up again by another gateway, and answered alike.
    expect(await other.ask(query, { ibans })).toEqual({ data: expected });
    expect(upstream.calls.length).toBeLessThanOrEqual(120);
  });
});
