import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { as, contentOf, keyOf, sha256, tCallers } from '../../support/gateway/callers.ts';
import { watchWithAll } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const startWith = (key: string) => `mutation {
  startEssay(input: { description: "Pens ${key}", wordCount: 100, idempotencyKey: "${key}" }) {
    __typename
    ... on EssayOrder { id }
    ... on UserError { message }
  }
}`;
const stateOf = (key: string) => `{
  essayOrder(idempotencyKey: "${key}") { state { __typename ... on EssayFailed { failure { __typename } } } }
}`;

async function tShop(env = {}) {
  const held = replyHeld(
    replyJson(200, { essay: 'Pens hold ink, and they hold it well for a long time. '.repeat(20) }),
  );
  const upstream = await tUpstream(held.reply);
  const gateway = await tCallers({
    callers: { shop: 'essays', bank: 'bank-data' },
    env: { CALLER_ESSAY_CALLS: '2/day', ESSAY_ORDERS_RUNNING: '1', ...env },
    upstream,
  });
  const askAs = async (name: string, query: string) => contentOf(await gateway.send('directly', { query }, as(name)));
  const start = async (key: string) => {
    const { data } = await askAs('shop', startWith(key));
    return (data as { startEssay: { id: string } }).startEssay.id;
  };
  const used = async () => {
    const { data } = await askAs('shop', '{ allowances { service callerBudget { used } } }');
    const { allowances } = data as { allowances: { service: string; callerBudget: { used: number } | null }[] };
    return allowances.find(({ service }) => service === 'ESSAYS')?.callerBudget?.used;
  };
  return { upstream, askAs, start, used, url: gateway.url, log: gateway.log, release: held.release };
}

it('an order is counted once in the budget of its caller, when it is sent', async () => {
  const { upstream, askAs, start, used, release } = await tShop();
  const first = await start('a');
  await vi.waitUntil(() => upstream.calls.length === 1);
  expect(await start('a')).toBe(first);
  const waiting = await start('b');
  expect(await used()).toBe(1);
  const cancelled = '__typename ... on EssayCancellation { mayHaveBeenPaid }';
  const { data } = await askAs('shop', `mutation { cancelEssayOrder(id: "${waiting}") { ${cancelled} } }`);
  expect(data).toEqual({ cancelEssayOrder: { __typename: 'EssayCancellation', mayHaveBeenPaid: false } });
  expect(await used()).toBe(1);
  for (const key of ['c', 'd']) await start(key);
  release();
  const failed = { state: { __typename: 'EssayFailed', failure: { __typename: 'EssayAllowanceExhausted' } } };
  await vi.waitFor(
    async () => expect((await askAs('shop', stateOf('d'))).data).toEqual({ essayOrder: failed }),
    10_000,
  );
  expect((await askAs('shop', stateOf('c'))).data).toMatchObject({
    essayOrder: { state: { __typename: 'EssayFinished' } },
  });
  expect(await used()).toBe(2);
  expect(upstream.calls).toHaveLength(2);
});

it('an order of generateEssay whose response is lost is found by its key, watched and listed, and not paid for again', async () => {
  const { upstream, askAs, used, release, url } = await tShop();
  const input = 'input: { description: "Pens", wordCount: 100, idempotencyKey: "form-1" }';
  const find = async () =>
    (await askAs('shop', '{ essayOrder(idempotencyKey: "form-1") { id state { __typename } } }')).data;
  expect(await find()).toEqual({ essayOrder: null });
  const client = new AbortController();
  const called = upstream.nextCall();
  const lost = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...as('shop') },
    body: JSON.stringify({ query: `mutation { generateEssay(${input}) { __typename } }` }),
    signal: client.signal,
  });
  await called;
  client.abort();
  await expect(lost).rejects.toThrow();
  const { essayOrder } = (await find()) as { essayOrder: { id: string } };
  expect(essayOrder).toMatchObject({ state: { __typename: 'EssayWriting' } });
  const [watch] = watchWithAll({ url, id: essayOrder.id, headers: as('shop') });
  await vi.waitUntil(() => watch?.states.length);
  release();
  await watch?.ended;
  expect(watch?.states.map(({ __typename }) => __typename)).toEqual(['EssayWriting', 'EssayFinished']);
  const { data } = await askAs('shop', '{ essayOrders { nodes { id input { description } state { __typename } } } }');
  const listed = { id: essayOrder.id, input: { description: 'Pens' }, state: { __typename: 'EssayFinished' } };
  expect(data).toEqual({ essayOrders: { nodes: [listed] } });
  const again = await askAs('shop', `mutation { generateEssay(${input}) { ... on Essay { id } } }`);
  expect(again.data).toMatchObject({ generateEssay: { id: expect.any(String) } });
  expect(upstream.calls).toHaveLength(1);
  expect(await used()).toBe(1);
});

it('an order whose caller has lost its key is not sent, and costs nothing', async () => {
  const file = join(tFolder(), 'keys.json');
  const writeKeys = (...names: string[]) => {
    const keys = names.map((name) => ({ name, sha256: sha256(keyOf(name)), scopes: ['essays'] }));
    writeFileSync(file, JSON.stringify({ keys }));
  };
  writeKeys('office', 'shop');
  const env = { GATEWAY_API_KEYS: '', GATEWAY_API_KEYS_FILE: file, CALLER_ESSAY_CALLS: '20/day' };
  const { upstream, askAs, start, used, release, log } = await tShop({ ...env, ESSAY_ORDERS_RUNNING: '2' });
  const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);
  for (const key of keys) await start(key);
  await vi.waitUntil(() => upstream.calls.length === 2, 20_000);
  writeKeys('office');
  await vi.waitUntil(() => log().includes('a configured file was read again'), 20_000);
  release();
  await vi.waitUntil(() => log().match(/an order (?:ended|failed)/g)?.length === keys.length, 20_000);
  writeKeys('office', 'shop');
  await vi.waitUntil(() => log().match(/a configured file was read again/g)?.length === 2, 20_000);
  const { data } = await askAs('shop', '{ essayOrders { nodes { state { __typename } } } }');
  const { nodes } = (data as { essayOrders: { nodes: { state: { __typename: string } }[] } }).essayOrders;
  const ends = nodes.map(({ state }) => state.__typename).sort();
  expect(ends).toEqual([...Array(10).fill('EssayFailed'), ...Array(2).fill('EssayFinished')]);
  expect(upstream.calls).toHaveLength(2);
  expect(await used()).toBe(2);
});

it('a caller without the scope can neither start, find, watch, cancel, list nor delete orders', async () => {
  const { upstream, askAs, start, release } = await tShop();
  const id = await start('a');
  const documents = [
    startWith('b'),
    stateOf('a'),
    `{ essayOrder(id: "${id}") { id } }`,
    `mutation { cancelEssayOrder(id: "${id}") { __typename } }`,
    `mutation { deleteEssayOrder(id: "${id}") { __typename } }`,
    '{ essayOrders { nodes { id } } }',
  ];
  for (const document of documents) {
    const { errors } = await askAs('bank', document);
    expect(
      errors?.map(([code]) => code),
      document,
    ).toEqual(['FORBIDDEN']);
  }
  await vi.waitUntil(() => upstream.calls.length === 1);
  release();
});
