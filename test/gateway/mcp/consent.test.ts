import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readProperty } from '../../../src/base/parse-json.ts';
import { ec, jwt, keyOf, pemOf, sha256, tCallers, tToken } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tMcpClient } from '../../support/gateway/mcp/mcp-client.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { bankDataKey, essaysKey } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import {
  type Reply,
  replyJson,
  replyResetBeforeHeaders,
  replyWithIban,
  tUpstream,
  type Upstream,
} from '../../support/scripted-upstream.ts';

/* Paid tools are called only after a user has agreed. */

const ibans = (count: number, first = 0) => Array.from({ length: count }, (_, index) => tIban(first + index));

/** A gateway whose services are paid for. */
async function tBank(env = {}) {
  const upstream = await tUpstream(replyWithIban);
  return tListeningGateway({ ...paidBy(upstream), ...env }, upstream);
}

function paidBy({ url }: Upstream) {
  return { BANK_DATA_URL: url, BANK_DATA_API_KEY: bankDataKey, ESSAY_URL: url, ESSAY_API_KEY: essaysKey };
}

const idOf = (data: Record<string, unknown> | undefined) => readProperty(data?.startEssay, 'id');
const confirmationIn = (text: string) => /"confirmation": "([^"]+)"/.exec(text)?.[1];

describe('by default, a paid tool', () => {
  it('asks the user of a client that can, with the price and what remains of the month', async () => {
    const { origin, upstream, ask } = await tBank({ BANK_DATA_MONTHLY_ALLOWANCE: '500', BANK_DATA_PRICE: '0.01 EUR' });
    const { call, questions } = await tMcpClient(origin, { answer: () => true });
    await ask(`{ ibanValidation(iban: "${tIban(9)}") { valid } }`);
    const { isError } = await call('check_ibans', { ibans: [...ibans(3), tIban(1), tIban(9), 'DE00'] });
    expect(isError).toBe(false);
    expect(questions).toEqual([
      'check_ibans makes up to 3 paid calls to the bank-data service (0.03 EUR); 499 calls of this month remain. Make them?',
    ]);
    expect(upstream.calls).toHaveLength(4);
  });

  it('makes no call if the user declines', async () => {
    const { origin, upstream } = await tBank();
    const { call } = await tMcpClient(origin, { answer: () => false });
    const { isError, text } = await call('check_iban', { iban: tIban(1) });
    expect([isError, text]).toEqual([true, expect.stringContaining('The user has not agreed')]);
    expect(upstream.calls).toHaveLength(0);
  });

  it.each(['2026-07-28', '2025-11-25'] as const)(
    'says what to confirm if the client cannot ask (%s)',
    async (edition) => {
      const { origin, upstream } = await tBank();
      const { call } = await tMcpClient(origin, { edition });
      const asked = await call('check_iban', { iban: tIban(1) });
      expect(asked.isError).toBe(true);
      expect(asked.quote).toEqual({ bankData: 1, essays: 0 });
      const confirmation = confirmationIn(asked.text);
      expect(confirmation).toBeDefined();
      const other = await call('check_iban', { iban: tIban(2), confirmation });
      expect(other.isError).toBe(true);
      expect((await call('check_iban', { iban: tIban(1), confirmation: `${confirmation}x` })).isError).toBe(true);
      expect(upstream.calls).toHaveLength(0);
      expect((await call('check_iban', { iban: tIban(1), confirmation })).isError).toBe(false);
      expect(upstream.calls).toHaveLength(1);
    },
  );

  it('says what to confirm, also to a client of the older edition that names capabilities of the newer one', async () => {
    const { origin } = await tBank();
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const params = { name: 'check_iban', arguments: { iban: tIban(1) }, _meta };
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(await response.text()).toContain('Ask the user.');
  });

  it('does not accept the confirmation of another caller', async () => {
    const callers = { shop: 'bank-data', bank: 'bank-data' };
    const paid = await tUpstream(replyWithIban);
    const { origin, upstream } = await tCallers({ callers, upstream: paid, env: paidBy(paid) });
    const shop = await tMcpClient(origin, { caller: 'shop' });
    const bank = await tMcpClient(origin, { caller: 'bank' });
    const confirmation = confirmationIn((await shop.call('check_iban', { iban: tIban(1) })).text);
    expect((await bank.call('check_iban', { iban: tIban(1), confirmation })).isError).toBe(true);
    expect(upstream.calls).toHaveLength(0);
  });

  it('asks nothing for what cannot cost a call, or is answered by a service of the gateway itself', async () => {
    const { origin, upstream } = await tBank();
    const { call, questions } = await tMcpClient(origin, { answer: () => true });
    await call('check_ibans', { ibans: ['DE00', 'DE89370400440532013001'] });
    await call('iban_format', { iban: tIban(1) });
    await call('check_bic', { bic: 'WRONG' });
    const selfHosted = await tBank({ BANK_DATA_SELF_HOSTED: 'on' });
    const own = await tMcpClient(selfHosted.origin, { answer: () => true });
    expect((await own.call('check_iban', { iban: tIban(1) })).isError).toBe(false);
    expect([...questions, ...own.questions]).toEqual([]);
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('a consent', () => {
  it('is for the calls that were confirmed, however often it is used, and asks again after them', async () => {
    const { origin, upstream } = await tBank();
    const { call } = await tMcpClient(origin);
    upstream.answers(replyJson(404, {}));
    const args = { ibans: ibans(3) };
    const confirmation = confirmationIn((await call('check_ibans', args)).text);
    // Failed look-ups are not cached: the same arguments would be paid for again.
    const replays = Array.from({ length: 5 }, () => call('check_ibans', { ...args, confirmation }));
    for (const { isError } of await Promise.all(replays)) expect(isError).toBe(true);
    expect(upstream.calls).toHaveLength(3);
    const later = await call('check_ibans', { ...args, confirmation });
    expect(confirmationIn(later.text)).toEqual(expect.any(String));
    expect(upstream.calls).toHaveLength(3);
    upstream.answers(replyWithIban);
    const renewed = await call('check_ibans', { ...args, confirmation: confirmationIn(later.text) });
    expect(renewed.isError).toBe(false);
    expect(upstream.calls).toHaveLength(6);
  });

  it('pays for no retry, and the failure of the service is the result', async () => {
    const { origin, upstream } = await tBank();
    upstream.answers(replyJson(503, {}));
    const { call } = await tMcpClient(origin);
    const confirmation = confirmationIn((await call('check_iban', { iban: tIban(1) })).text);
    const { text } = await call('check_iban', { iban: tIban(1), confirmation });
    expect(text).toMatch(/UPSTREAM_/);
    expect(text).not.toContain('BUDGET_EXHAUSTED');
    expect(upstream.calls).toHaveLength(1);
  });

  it('is not valid on the next day, on which calls are counted from zero', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T23:59:58Z') });
    onTestFinished(() => void vi.useRealTimers());
    const { origin, upstream } = await tBank();
    const { call } = await tMcpClient(origin);
    const confirmation = confirmationIn((await call('check_iban', { iban: tIban(1) })).text);
    vi.setSystemTime(new Date('2026-11-22T00:00:01Z'));
    expect((await call('check_iban', { iban: tIban(1), confirmation })).isError).toBe(true);
    expect(upstream.calls).toHaveLength(0);
  });

  it('is not needed by concurrent calls up to a number, and by none beyond it', async () => {
    const { origin, upstream } = await tBank({ MCP_CONSENT: 'above:5' });
    const { call } = await tMcpClient(origin);
    const results = await Promise.all(ibans(20).map((iban) => call('check_iban', { iban })));
    expect(results.filter(({ isError }) => !isError)).toHaveLength(5);
    expect(upstream.calls).toHaveLength(5);
    const asked = await call('check_iban', { iban: tIban(30) });
    const confirmation = confirmationIn(asked.text);
    expect((await call('check_iban', { iban: tIban(30), confirmation })).isError).toBe(false);
    expect(upstream.calls).toHaveLength(6);
  });
});

it('an agent checks 100 IBANs, is asked beyond 60, is stopped by its cap, and orders an essay once', async () => {
  const env = { MCP_CONSENT: 'above:60', MCP_TOOL_CALLS: '80' };
  const { origin, upstream, post } = await tBank(env);
  const { call, questions } = await tMcpClient(origin, { answer: () => true });
  const first = await call('check_ibans', { ibans: ibans(60) });
  expect([first.isError, questions]).toEqual([false, []]);
  const second = await call('check_ibans', { ibans: ibans(40, 60) });
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain('up to 40 paid calls');
  // The cap holds where the user has agreed, too.
  expect(second.isError).toBe(true);
  // Three fields of each of the other twenty IBANs need the call.
  expect(second.text.split('BUDGET_EXHAUSTED')).toHaveLength(61);
  expect(upstream.calls).toHaveLength(80);
  // Other tools, and other clients of the caller, have calls of their own; what was looked up is free.
  expect((await call('check_iban', { iban: tIban(200) })).isError).toBe(false);
  await post({ query: `{ ibanValidation(iban: "${tIban(201)}") { valid } }` });
  expect((await call('check_ibans', { ibans: ibans(60) })).isError).toBe(false);
  expect(upstream.calls).toHaveLength(82);

  const order = { description: 'The fountain pen and its nib', wordCount: 100 };
  const orders = [await call('order_essay', order), await call('order_essay', order)];
  const [id, again] = orders.map(({ data }) => idOf(data));
  expect(id).toEqual(expect.any(String));
  expect(again).toBe(id);
  await expect.poll(() => upstream.calls.length).toBe(83);
  const found = await call('find_essay', { id });
  expect(found.data).toMatchObject({ essayOrder: { id } });
  const other = await call('order_essay', { ...order, idempotencyKey: 'another' });
  expect(idOf(other.data)).not.toBe(id);
  await expect.poll(() => upstream.calls.length).toBe(84);
});

describe('a caller has a consent and a cap of its own', () => {
  const limits = { mcpConsent: 'never', mcpToolCalls: 2 };

  it.each([
    [
      'in the file of its key',
      { keys: [{ name: 'shop', sha256: sha256(keyOf('shop')), scopes: ['bank-data'], limits }] },
    ],
    ['in its token', null],
  ])('%s', async (_, keys) => {
    const file = join(tFolder(), 'keys.json');
    writeFileSync(file, JSON.stringify(keys));
    const ofToken = { ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey), JWT_LIMITS_CLAIM: 'limits' };
    const env = keys === null ? ofToken : { GATEWAY_API_KEYS_FILE: file };
    const { origin, upstream } = await tBank({ ...env, MCP_CONSENT: 'always', MCP_TOOL_CALLS: '1' });
    const key = keys === null ? await tToken({ limits }) : keyOf('shop');
    const { call } = await tMcpClient(origin, { key });
    const results = await Promise.all(ibans(5).map((iban) => call('check_iban', { iban })));
    expect(results.filter(({ isError }) => !isError)).toHaveLength(2);
    for (const { isError, text } of results) if (isError) expect(text).toContain('BUDGET_EXHAUSTED');
    expect(upstream.calls).toHaveLength(2);
  });
});

it.skipIf(whyNoRedis !== '')(`a cap holds over two gateways with one Redis${whyNoRedis}`, async () => {
  const redis = await tRedis();
  const shared = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters', REPLICAS: '2' };
  const env = { ...shared, MCP_CONSENT: 'never', MCP_TOOL_CALLS: '7' };
  const gateways = [await tBank(env), await tBank(env)];
  const clients = await Promise.all(gateways.map(({ origin }) => tMcpClient(origin)));
  const results = await Promise.all(
    ibans(24).map((iban, index) => clients[index % 2]?.call('check_iban', { iban }) ?? expect.unreachable()),
  );
  expect(results.filter(({ isError }) => !isError)).toHaveLength(7);
  expect(gateways.flatMap(({ upstream }) => upstream.calls)).toHaveLength(7);
});

it.skipIf(whyNoRedis !== '')(`a consent is used once, on any of two gateways${whyNoRedis}`, async () => {
  const redis = await tRedis();
  const env = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters', REPLICAS: '2' };
  const gateways = [await tBank(env), await tBank(env)];
  for (const { upstream } of gateways) upstream.answers(replyJson(404, {}));
  const clients = await Promise.all(gateways.map(({ origin }) => tMcpClient(origin)));
  const args = { iban: tIban(1) };
  const confirmation = confirmationIn((await clients[0]?.call('check_iban', args))?.text ?? '');
  await Promise.all(clients.map(({ call }) => call('check_iban', { ...args, confirmation })));
  await Promise.all(clients.map(({ call }) => call('check_iban', { ...args, confirmation })));
  expect(gateways.flatMap(({ upstream }) => upstream.calls)).toHaveLength(1);
});

it.skipIf(whyNoRedis !== '')(
  `a consent and an id of the next secret are valid at a gateway that reads it again${whyNoRedis}`,
  async () => {
    const redis = await tRedis();
    const [first, second] = ['first-secret-of-the-store', 'second-secret-of-the-store'];
    const files = { STORE_SECRET_FILE: join(tFolder(), 'present'), STORE_SECRET_OLD_FILE: join(tFolder(), 'old') };
    for (const file of Object.values(files)) writeFileSync(file, first);
    const shared = { REDIS_URL: redis.url, REPLICAS: '2' };
    const running = await tBank({ ...shared, ...files });
    const next = await tBank({ ...shared, STORE_SECRET: second, STORE_SECRET_OLD: first });
    const clients = { running: await tMcpClient(running.origin), next: await tMcpClient(next.origin) };
    const confirm = async (asked: keyof typeof clients, confirmed: keyof typeof clients, args: { iban: string }) => {
      const confirmation = confirmationIn((await clients[asked].call('check_iban', args)).text);
      return !(await clients[confirmed].call('check_iban', { ...args, confirmation })).isError;
    };
    const idAt = async ({ ask }: typeof running, iban = tIban(9)) =>
      readProperty((await ask(`{ ibanValidation(iban: "${iban}") { id } }`)).data?.ibanValidation, 'id');
    const find = ({ ask }: typeof running, id: unknown) =>
      ask('query ($id: ID!) { node(id: $id) { ... on IbanValidation { iban } } }', { id });
    const before = await idAt(running);
    expect(await confirm('running', 'next', { iban: tIban(1) })).toBe(true);

    writeFileSync(files.STORE_SECRET_OLD_FILE, second);
    running.reloadKeys();
    expect(await confirm('next', 'running', { iban: tIban(2) })).toBe(true);
    const after = await idAt(next);
    expect(after).not.toBe(before);
    for (const gateway of [running, next])
      for (const id of [before, after]) expect((await find(gateway, id)).data).toEqual({ node: { iban: tIban(9) } });

    writeFileSync(files.STORE_SECRET_FILE, second);
    running.reloadKeys();
    expect(await idAt(running, tIban(10))).toBe(await idAt(next, tIban(10)));
  },
);

it('a consent and an id of a secret are valid until neither STORE_SECRET nor STORE_SECRET_OLD has it', async () => {
  const [first, second] = ['first-secret-of-the-store', 'second-secret-of-the-store'];
  const files = { STORE_SECRET_FILE: join(tFolder(), 'present'), STORE_SECRET_OLD_FILE: join(tFolder(), 'old') };
  for (const file of Object.values(files)) writeFileSync(file, first);
  const { origin, ask, reloadKeys, upstream } = await tBank(files);
  const { call } = await tMcpClient(origin);
  const [before, after] = [{ iban: tIban(1) }, { iban: tIban(2) }];
  const { data } = await ask(`{ ibanValidation(iban: "${tIban(9)}") { id } }`);
  const id = readProperty(data?.ibanValidation, 'id');
  const find = async () => (await ask('query ($id: ID!) { node(id: $id) { id } }', { id })).data?.node;
  const confirmations = [];
  for (const args of [before, after]) confirmations.push(confirmationIn((await call('check_iban', args)).text));

  writeFileSync(files.STORE_SECRET_FILE, second);
  reloadKeys();
  expect((await call('check_iban', { ...before, confirmation: confirmations[0] })).isError).toBe(false);
  expect(await find()).toEqual({ id: expect.any(String) });
  const paid = upstream.calls.length;

  writeFileSync(files.STORE_SECRET_OLD_FILE, second);
  reloadKeys();
  const { text } = await call('check_iban', { ...after, confirmation: confirmations[1] });
  expect(confirmationIn(text)).toEqual(expect.any(String));
  expect(await find()).toBeNull();
  expect(upstream.calls).toHaveLength(paid);
});

it('counts the essays of an agent in the cap of its tool, although they are written after the answer', async () => {
  const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
  const upstream = await tUpstream(replyJson(200, { essay }));
  const env = { ...paidBy(upstream), MCP_CONSENT: 'never', MCP_TOOL_CALLS: '1' };
  const { origin, log } = await tListeningGateway(env, upstream);
  const { call } = await tMcpClient(origin);
  const ended = () => log().match(/an order (?:ended|failed)/g)?.length ?? 0;
  for (const [index, idempotencyKey] of ['form-1', 'form-2'].entries()) {
    await call('order_essay', { description: 'Pens and the ink in them', wordCount: 100, idempotencyKey });
    await vi.waitUntil(() => ended() === index + 1, { timeout: 100_000 });
  }
  expect(upstream.calls).toHaveLength(1);
  expect(log()).toContain('BUDGET_EXHAUSTED');
});

describe('an order of an agent that may be an earlier one in other words', () => {
  const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
  const pens = { description: 'The fountain pen and its nib', wordCount: 100 };
  const reworded = { description: 'Fountain pens and their nibs', wordCount: 100 };
  const handleIn = (text: string) => /"idempotencyKey": "(mcp-[^"]+)"/.exec(text)?.[1] ?? expect.unreachable(text);

  /** A gateway that asks for nothing else. */
  async function tOrders(env = {}) {
    const upstream = await tUpstream(replyJson(200, { essay }));
    const { origin } = await tCallers({
      callers: { shop: 'essays', desk: 'essays' },
      upstream,
      env: { ...paidBy(upstream), MCP_CONSENT: 'never', ...env },
    });
    return { upstream, client: (caller: string, answer?: () => boolean) => tMcpClient(origin, { caller, answer }) };
  }

  it('asks first, with the earlier one, and a repeat that passes on its key is that order', async () => {
    const { upstream, client } = await tOrders();
    const { call } = await client('shop');
    const first = await call('order_essay', pens);
    const handle = handleIn(first.text);
    expect((await call('order_essay', pens)).data).toEqual(first.data);
    const asked = await call('order_essay', reworded);
    expect([asked.isError, handleIn(asked.text)]).toEqual([true, handle]);
    expect(asked.text).toContain('may be the same in other words: {"description":"The fountain pen and its nib"');
    const repeated = await call('order_essay', { ...reworded, idempotencyKey: handle });
    expect([repeated.isError, idOf(repeated.data)]).toEqual([false, idOf(first.data)]);
    // Those of another caller, or with a key of their own, are others.
    const desk = await client('desk');
    expect((await desk.call('order_essay', reworded)).isError).toBe(false);
    expect((await call('order_essay', { ...reworded, idempotencyKey: 'own' })).isError).toBe(false);
    await expect.poll(() => upstream.calls.length).toBe(3);
    const confirmation = confirmationIn(asked.text);
    const confirmed = await call('order_essay', { ...reworded, confirmation });
    expect([confirmed.isError, idOf(confirmed.data)]).toEqual([
      false,
      expect.not.stringMatching(String(idOf(first.data))),
    ]);
    await expect.poll(() => upstream.calls.length).toBe(4);
  });

  it('asks for one of two at a time, and after an hour for none', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T10:00:00Z') });
    onTestFinished(() => void vi.useRealTimers());
    const { upstream, client } = await tOrders();
    const { call, questions } = await client('shop', () => false);
    const both = await Promise.all([call('order_essay', pens), call('order_essay', reworded)]);
    expect(both.map(({ isError }) => isError).sort()).toEqual([false, true]);
    expect(questions).toHaveLength(1);
    expect(both.find(({ isError }) => isError)?.text).toContain('To repeat the earlier order');
    vi.advanceTimersByTime(3_601_000);
    const last = { description: 'Ink', wordCount: 100 };
    expect((await call('order_essay', last)).isError).toBe(false);
    await expect.poll(() => upstream.calls.length).toBe(2);
  });

  it('asks nothing after an order that was not made', async () => {
    const { client } = await tOrders({ CALLER_ESSAY_CALLS: '0/day' });
    const { call } = await client('shop');
    for (const order of [pens, reworded])
      expect((await call('order_essay', order)).text).toContain('budget of calls to the essay service is exhausted');
  });
});

/** A gateway with one tool of its operator. */
async function tTool(name: string, document: string, { reply, env = {} }: { reply: Reply; env?: object }) {
  const folder = tFolder();
  writeFileSync(join(folder, 'trusted.json'), JSON.stringify({ [name]: document }));
  const upstream = await tUpstream(reply);
  const gateway = await tListeningGateway({ ...paidBy(upstream), TRUSTED_DOCUMENTS: folder, ...env }, upstream);
  return { ...gateway, ...(await tMcpClient(gateway.origin, { answer: () => true })) };
}

it('an agent is asked before another order than one that failed after it was sent', async () => {
  const write = `"@tool" mutation write($description: String!, $idempotencyKey: ID!) {
    generateEssay(input: { description: $description, wordCount: 9, idempotencyKey: $idempotencyKey }) { __typename }
  }`;
  const { call, upstream, questions } = await tTool('write', write, {
    reply: replyResetBeforeHeaders,
    env: { MCP_CONSENT: 'never' },
  });
  await call('write', { description: 'The fountain pen and its nib' });
  await call('write', { description: 'Fountain pens and their nibs' });
  expect(questions).toEqual([expect.stringContaining('may be the same in other words')]);
  expect(upstream.calls).toHaveLength(2);
});

it('a tool that deletes an order and starts it again is asked about as one that orders', async () => {
  const again = `"@tool" mutation again($id: ID!, $idempotencyKey: ID!) {
    deleteEssayOrder(id: $id) { __typename }
    startEssay(input: { description: "Pens", wordCount: 9, idempotencyKey: $idempotencyKey }) { __typename }
  }`;
  const { call, questions, ask } = await tTool('again', again, {
    reply: replyJson(200, { essay: 'Pens hold ink, and they hold it well for a long time.' }),
    env: { TRUSTED_DOCUMENTS_MODE: 'prefer' },
  });
  const input = 'input: { description: "Pens", wordCount: 9, idempotencyKey: "k" }';
  await ask(`mutation { generateEssay(${input}) { __typename } }`);
  const { data } = await ask('{ essayOrder(idempotencyKey: "k") { id } }');
  await call('again', { id: readProperty(data?.essayOrder, 'id'), idempotencyKey: 'k' });
  expect(questions).toEqual([expect.stringContaining('up to 1 paid call to the essays service')]);
});

describe('a mutation of the operator that orders two essays', () => {
  const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
  const order = (alias: string) =>
    `${alias}: startEssay(input: { description: "Pens", wordCount: 100, idempotencyKey: $${alias} }) { __typename }`;
  const pairOf = (mark: string) => `"${mark}" mutation pair($a: ID!, $b: ID!) { ${order('a')} ${order('b')} }`;

  /** A gateway with this tool, and an agent that orders other essays each time. */
  async function tPair(mark: string, env = {}) {
    const folder = tFolder();
    writeFileSync(join(folder, 'trusted.json'), JSON.stringify({ pair: pairOf(mark) }));
    const upstream = await tUpstream(replyJson(200, { essay }));
    const gateway = await tListeningGateway({ ...paidBy(upstream), TRUSTED_DOCUMENTS: folder, ...env }, upstream);
    const { call, questions } = await tMcpClient(gateway.origin, { answer: () => true });
    let pairs = 0;
    let refused = 0;
    const ended = () => gateway.log().match(/an order (?:ended|failed)/g)?.length ?? 0;
    return {
      ...gateway,
      questions,
      /** Waits until both orders have ended, or were refused. */
      async order() {
        pairs += 1;
        const { text } = await call('pair', { a: `a-${pairs}`, b: `b-${pairs}` });
        refused += text.includes('PAID_CALLS_EXCEEDED') ? 2 : (text.match(/EssayAllowanceExhausted/g)?.length ?? 0);
        await vi.waitUntil(() => ended() + refused === 2 * pairs, { timeout: 100_000 });
        return text;
      },
    };
  }

  it('pays for as many calls as a user has confirmed', async () => {
    const { upstream, questions, order } = await tPair('@tool(calls: 2)');
    await order();
    expect(questions).toEqual([expect.stringContaining('pair makes up to 2 paid calls')]);
    expect(upstream.calls).toHaveLength(2);
  });

  it.each(['always', 'never'])('is refused where its operator permits one, with MCP_CONSENT=%s', async (consent) => {
    const { upstream, questions, order } = await tPair('@tool', { MCP_CONSENT: consent });
    expect(await order()).toContain('PAID_CALLS_EXCEEDED');
    expect([questions, upstream.calls]).toEqual([[], []]);
  });

  it.each([
    ['beyond the cap of its tool', { MCP_CONSENT: 'never', MCP_TOOL_CALLS: '3' }, '@tool(calls: 2)', 2, 3],
    ['beyond the budget of its caller', { MCP_CONSENT: 'never', CALLER_ESSAY_CALLS: '3/day' }, '@tool(calls: 2)', 2, 3],
  ])('makes no more calls %s', async (_, env, mark, first, second) => {
    const { upstream, log, order } = await tPair(mark, env);
    await order();
    expect(upstream.calls).toHaveLength(first);
    await order();
    expect(upstream.calls).toHaveLength(second);
    expect(log()).toContain('BUDGET_EXHAUSTED');
  });

  it('counts as two calls among those that need no consent', async () => {
    const { upstream, questions, order } = await tPair('@tool(calls: 2)', { MCP_CONSENT: 'above:3' });
    await order();
    expect(questions).toEqual([]);
    await order();
    expect(questions).toEqual([expect.stringContaining('pair makes up to 2 paid calls')]);
    expect(upstream.calls).toHaveLength(4);
  });
});
