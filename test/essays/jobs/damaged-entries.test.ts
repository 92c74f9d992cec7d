import { expect, it, vi } from 'vitest';
import { tGateway } from '../../support/gateway.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';
import { tRawClient } from '../../support/stores/redis-client.ts';

const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
const start = (key: string) => `mutation {
  startEssay(input: { description: "Pens ${key}", wordCount: 100, idempotencyKey: "${key}" }) { ... on EssayOrder { id } }
}`;
const list = '{ essays { nodes { state { __typename } } } }';
const finished = { state: { __typename: 'EssayFinished' } };

it.skipIf(whyNoRedis)(`one damaged entry in Redis hides no other order, and is in the log${whyNoRedis}`, async () => {
  const redis = await tRedis();
  const upstream = await tUpstream(replyJson(200, { essay }));
  const env = { REDIS_URL: redis.url, STORE_SECRET: 'a-secret-of-the-test-with-32-characters', REPLICAS: '1' };
  const gateway = tGateway({ essaysUrl: upstream.url, env });
  await gateway.listen();
  for (const key of ['a', 'b', 'c']) await gateway.ask(start(key));
  const read = async () => {
    const { data, errors } = await gateway.ask(list);
    return { nodes: (data?.essays as unknown as { nodes: object[] } | null)?.nodes, errors };
  };
  await vi.waitFor(async () => expect((await read()).nodes).toEqual([finished, finished, finished]), 20_000);
  const raw = tRawClient(redis);
  const skipped: number[] = [];
  for (const key of await raw.keys('ledgerquill:value:*')) {
    const value = await raw.get(key);
    // Expired meanwhile, such as the entries of orders that have not ended.
    if (value === null) continue;
    await raw.set(key, 'garbage-entry', 'KEEPTTL');
    const { nodes = [], errors } = await read();
    expect(errors).toBeUndefined();
    expect(nodes.length).toBeGreaterThanOrEqual(2);
    skipped.push(3 - nodes.length);
    await raw.set(key, value, 'KEEPTTL');
  }
  // The entry and the record of each order.
  expect(skipped.filter((count) => count === 1)).toHaveLength(6);
  const lines = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('a stored order was left out'));
  expect(lines).toHaveLength(1);
  expect(gateway.log()).not.toContain('garbage-entry');
});
