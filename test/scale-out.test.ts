import { describe, expect, it } from 'vitest';
import { tGateway } from './support/gateway.ts';
import { tRedis, whyNoRedis } from './support/redis.ts';
import { type Reply, replyJson, tUpstream } from './support/scripted-upstream.ts';

/* Several gateways with one Redis. */

const query = '{ ibanValidation(iban: "DE89370400440532013000") { iban valid } }';
const answer = { data: { ibanValidation: { iban: 'DE89370400440532013000', valid: true } } };
const valid: Reply = replyJson(200, { valid: true });

function tReplica(redisUrl: string, bankDataUrl: string) {
  return tGateway({ bankDataUrl, env: { REDIS_URL: redisUrl, STORE_SECRET: 'a-secret-that-all-share' } });
}

async function ready(url: string): Promise<unknown> {
  return (await fetch(`${url}/ready`)).json();
}

describe.skipIf(whyNoRedis)(`replicas that share a Redis${whyNoRedis}`, () => {
  it('share the answers that one of them received, even after it was closed', async () => {
    const redis = await tRedis();
    const upstream = await tUpstream(valid);
    const first = tReplica(redis.url, upstream.url);
    expect(await first.ask(query)).toEqual(answer);
    await first.close();
    const second = tReplica(redis.url, upstream.url);
    expect(await second.ask(query)).toEqual(answer);
    expect(upstream.calls).toHaveLength(1);
  });

  it('work without it while it is down, log that once, and recover', async () => {
    const redis = await tRedis();
    const upstream = await tUpstream(valid);
    const gateway = tReplica(redis.url, upstream.url);
    await gateway.ask(query);
    await redis.stop();
    expect(await gateway.ask(query)).toEqual(answer);
    const other = '{ ibanValidation(iban: "GB29NWBK60161331926819") { valid } }';
    expect(await gateway.ask(other)).toEqual({ data: { ibanValidation: { valid: true } } });
    expect(upstream.calls).toHaveLength(2);
    const url = await gateway.listen();
    expect(await ready(url)).toEqual({ status: 'ready', sharedStore: 'down' });
    expect(gateway.log().match(/the shared store is down/g)).toHaveLength(1);
    expect(gateway.log()).not.toContain(new URL(redis.url).host);

    await redis.restart();
    while (JSON.stringify(await ready(url)).includes('down'));
    await gateway.ask('{ ibanValidation(iban: "FR1420041010050500013M02606") { valid } }');
    const second = tReplica(redis.url, upstream.url);
    await second.ask('{ ibanValidation(iban: "FR1420041010050500013M02606") { valid } }');
    expect(upstream.calls).toHaveLength(3);
  });

  it('start while it is down', async () => {
    const redis = await tRedis();
    await redis.stop();
    const upstream = await tUpstream(valid);
    const gateway = tReplica(redis.url, upstream.url);
    expect(await gateway.ask(query)).toEqual(answer);
    expect(await ready(await gateway.listen())).toEqual({ status: 'ready', sharedStore: 'down' });
  });
});
