import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { as, mcpHeaders, tCallers } from '../../support/gateway/callers.ts';
import { tListeningGateway, tSend } from '../../support/gateway/http/listening-gateway.ts';
import { tMcpClient } from '../../support/gateway/mcp/mcp-client.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { bankDataKey } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyHeld, replyJson, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation, tHostedBankData } from '../../support/self-hosted.ts';

/* The tools of agents, by the client of the official SDK. */

const editions = ['2026-07-28', '2025-11-25'] as const;
const never = { MCP_CONSENT: 'never' };
/** What each request of the newer edition has. */
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const names = ['check_bic', 'check_iban', 'check_ibans', 'find_essay', 'generate_iban', 'iban_format', 'order_essay'];

describe.each(editions)('a client of the edition %s', (edition) => {
  it('finds all tools, with their costs, schemas and hints', async () => {
    const { origin } = await tListeningGateway(never);
    const { client } = await tMcpClient(origin, { edition });
    expect(client.getNegotiatedProtocolVersion()).toBe(edition);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(names);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description).toMatch(/^Free: |Costs /m);
      expect(inputSchema.type).toBe('object');
      expect(outputSchema?.type).toBe('object');
    }
    expect(tools.find(({ name }) => name === 'check_ibans')).toMatchObject({
      inputSchema: {
        properties: { ibans: { type: 'array', maxItems: 1_000, description: expect.stringContaining('IBANs') } },
        required: ['ibans'],
      },
      outputSchema: { properties: { ibanValidations: {} } },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    });
    expect(JSON.stringify(tools).length).toBeLessThan(14_000);
  });

  it('checks an IBAN with the engine and the cache of GraphQL', async () => {
    const { origin, upstream, post } = await tListeningGateway(never, await tUpstream(replyWithIban));
    const { call } = await tMcpClient(origin, { edition });
    const { data, text, isError } = await call('check_iban', { iban: tIban(1) });
    expect(data).toMatchObject({ ibanValidation: { iban: tIban(1), valid: true, problems: [] } });
    expect(text).toContain('not instructions');
    expect(text).toContain(tIban(1));
    expect(isError).toBe(false);
    await post({ query: `{ ibanValidation(iban: "${tIban(1)}") { valid } }` });
    expect(upstream.calls).toHaveLength(1);
  });

  it('checks formats without a call', async () => {
    const { origin, upstream } = await tListeningGateway();
    const { call } = await tMcpClient(origin, { edition });
    const wrong = await call('iban_format', { iban: 'DE89370400440532013001' });
    expect(wrong.data).toMatchObject({ ibanValidation: { format: { problems: ['WRONG_CHECK_DIGITS'] } } });
    expect(upstream.calls).toHaveLength(0);
  });

  it('checks a BIC, and computes an IBAN', async () => {
    const { origin, upstream } = await tListeningGateway(never, await tHostedBankData());
    const { call } = await tMcpClient(origin, { edition });
    const bic = await call('check_bic', { bic: 'COBADEFF' });
    expect(bic.data).toMatchObject({
      bicValidation: { valid: true, bankData: { name: 'Commerzbank', countryCode: 'DE' } },
    });
    const account = { country: 'DE', bankCode: '37040044', accountNumber: '532013000' };
    const generated = await call('generate_iban', account);
    const iban = seenIbanValidation.iban;
    expect(generated.data).toMatchObject({
      generateIban: { __typename: 'IbanValidation', iban, valid: true, bankData: { bic: 'COBADEFFXXX' } },
    });
    const paid = upstream.calls.length;
    const wrong = await call('generate_iban', { ...account, accountNumber: '12345678901' });
    expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining('"name":"accountNumber"')]);
    expect(upstream.calls).toHaveLength(paid);
    expect(paid).toBeLessThanOrEqual(3);
  });

  it('gets the failure of a service as the failure of the tool', async () => {
    const { origin } = await tListeningGateway(never, await tUpstream(replyJson(400, {})));
    const { call } = await tMcpClient(origin, { edition });
    const { isError, text } = await call('check_iban', { iban: tIban(1) });
    expect([isError, text]).toEqual([true, expect.stringContaining('UPSTREAM_FAILED')]);
    expect((await call('check_ibans', { ibans: 7 })).isError).toBe(true);
  });
});

describe('callers', () => {
  it('are those of GraphQL: without credentials 401, without a scope no tool, and 403', async () => {
    const { origin } = await tCallers({ callers: { shop: 'bank-data' } });
    const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(`${origin}/mcp`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      });
    expect((await send(message('tools/list'))).status).toBe(401);
    const { client } = await tMcpClient(origin, { caller: 'shop' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('order_essay');
    const refused = await send(message('tools/call', { name: 'order_essay', arguments: {} }), as('shop'));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="essays"');
    const batch = await send(`[${message('tools/list')},${message('tools/list')}]`, as('shop'));
    expect(batch.status).toBe(400);
  });

  it('use POST, and no page of another origin', async () => {
    const { origin } = await tCallers({ callers: { shop: 'bank-data' } });
    const headers = { ...mcpHeaders, ...as('shop'), origin: 'https://other.example' };
    expect((await fetch(`${origin}/mcp`, { method: 'POST', body: '{}', headers })).status).toBe(403);
    expect((await fetch(`${origin}/mcp`)).status).toBe(405);
  });

  it('gets the error of an unknown method for a subscription', async () => {
    const { origin } = await tCallers({ callers: { shop: 'bank-data' } });
    const send = async (method: string) => {
      const response = await fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: { ...mcpHeaders, ...as('shop'), 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { notifications: {}, _meta: envelope } }),
      });
      return [response.status, await response.json()];
    };
    const unknown = { jsonrpc: '2.0', id: 7, error: { code: -32_601, message: 'Method not found' } };
    expect(await send('subscriptions/listen')).toEqual([404, unknown]);
    expect(await send('subscriptions/unknown')).toEqual([404, unknown]);
  });

  it.each(editions)('may leave during a call of the edition %s, without an error in the log', async (edition) => {
    const { reply, release } = replyHeld(replyWithIban);
    const { origin, log, upstream } = await tListeningGateway(never, await tUpstream(reply));
    onTestFinished(release);
    const sent = upstream.nextCall();
    const params = { name: 'check_iban', arguments: { iban: tIban(1) } };
    const isNewer = edition === '2026-07-28';
    const controller = new AbortController();
    const left = fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        ...mcpHeaders,
        'mcp-protocol-version': edition,
        ...(isNewer && { 'mcp-method': 'tools/call', 'mcp-name': params.name }),
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { ...params, ...(isNewer && { _meta: envelope }) },
      }),
      signal: controller.signal,
    });
    await sent;
    controller.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(log).toContain('"status":499');
    expect(log()).not.toMatch(/"level":50|"status":500/);
  });

  it('and their tools are in the log; arguments are not', async () => {
    const { origin, log } = await tCallers({
      callers: { shop: 'bank-data' },
      env: never,
      upstream: await tUpstream(replyWithIban),
    });
    const { call } = await tMcpClient(origin, { caller: 'shop' });
    await call('check_iban', { iban: tIban(1) });
    await expect
      .poll(log)
      .toMatch(/"route":"\/mcp".*"operationName":"check_iban".*"caller":"api-key:shop".*"upstreamCalls":1/);
    expect(log()).not.toContain(tIban(1));
  });
});

it('lets a query pass a flood of calls', async () => {
  // Each slice of time is over at once, so that each call waits for a turn of the event loop.
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 100;
    return now;
  });
  onTestFinished(() => clock.mockRestore());
  const { origin } = await tListeningGateway();
  const params = { name: 'iban_format', arguments: { iban: tIban(1) } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const agents = Array.from({ length: 61 }, () => new Agent({ keepAlive: true }));
  onTestFinished(() => {
    for (const agent of agents) agent.destroy();
  });
  const flood = async () => {
    const ended: string[] = [];
    const send = (agent: Agent, index: number) => {
      const [path, body] = index < 60 ? ['/mcp', message] : ['/graphql', { query: '{ limits { ibans } }' }];
      const sent = tSend(origin + path, { method: 'POST', headers: mcpHeaders, body: JSON.stringify(body), agent });
      return sent.then(({ status }) => ended.push(`${path} ${status}`));
    };
    await Promise.all(agents.map(send));
    return ended.indexOf('/graphql 200');
  };
  // Connections are accepted one at a time, and the first call loads code.
  await flood();
  const passed = await flood();
  expect(passed).toBeGreaterThanOrEqual(0);
  expect(passed).toBeLessThan(20);
});

describe('a trusted document', () => {
  const bank = `fragment Bank on BankData { name bic }`;
  const documents = {
    marked: `"""
    Find the bank of an account.
    @tool
    """
    query bankOf($iban: String!, $withBic: Boolean = false) {
      account: ibanValidation(iban: $iban) { ok: valid bankData { ...Bank } bics @include(if: $withBic) }
    } ${bank}`,
    input:
      '"Compute an IBAN. @tool(calls: 3)" query ibanOf($input: GenerateIbanInput!) { generateIban(input: $input) { ... on IbanValidation { iban } } }',
    other: '"Not for agents" query Other { limits { ibans } }',
  };
  const tDocuments = async (texts: Readonly<Record<string, string>>, { env = {}, isPaid = false } = {}) => {
    const folder = tFolder();
    const path = join(folder, 'trusted.json');
    writeFileSync(path, JSON.stringify(texts));
    const upstream = await tUpstream(replyWithIban);
    const paid = isPaid ? { BANK_DATA_URL: upstream.url, BANK_DATA_API_KEY: bankDataKey } : {};
    const gateway = await tListeningGateway({ TRUSTED_DOCUMENTS: folder, ...paid, ...env }, upstream);
    return { ...gateway, write: (next: object) => writeFileSync(path, JSON.stringify(next)) };
  };

  it('is a tool if its description says so, with schemas from its variables and fields', async () => {
    const { origin, upstream } = await tDocuments(documents, { env: never });
    const { client, call } = await tMcpClient(origin);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...names, 'bankOf', 'ibanOf'].sort());
    expect(tools.find(({ name }) => name === 'bankOf')).toMatchObject({
      title: 'Find the bank of an account.',
      description: expect.stringContaining('Costs at most one paid call, or one for each item of its lists.'),
      inputSchema: { properties: { iban: { type: 'string' } }, required: ['iban'] },
      outputSchema: { required: ['account'] },
      annotations: { readOnlyHint: true },
    });
    expect(JSON.stringify(tools.find(({ name }) => name === 'bankOf')?.outputSchema)).toMatch(
      /"ok":.*"bankData":.*"name":.*"bics":.*"required":\["ok","bankData"\]/,
    );
    expect(tools.find(({ name }) => name === 'ibanOf')).toMatchObject({
      description: 'Compute an IBAN.\nCosts at most 3 paid calls.',
      inputSchema: { properties: { input: { properties: { country: { type: 'string' } }, required: ['country'] } } },
    });
    const { data, isError } = await call('bankOf', { iban: tIban(1) });
    expect([isError, data]).toMatchObject([false, { account: { ok: true } }]);
    expect(data).not.toHaveProperty('account.bics');
    expect(upstream.calls).toHaveLength(1);
  });

  const two = (calls: number) =>
    `"@tool(calls: ${calls})" query two($a: String!, $b: String!) { a: ibanValidation(iban: $a) { valid } b: ibanValidation(iban: $b) { valid } }`;

  it.each([
    ['never', 0],
    ['above:20', 0],
    ['always', 1],
  ])(
    'that needs more calls than it declares is refused before the first one with MCP_CONSENT=%s',
    async (consent, asked) => {
      const { origin, upstream, write } = await tDocuments(
        { two: two(1) },
        { isPaid: true, env: { MCP_CONSENT: consent } },
      );
      const { client, call, questions } = await tMcpClient(origin, { answer: () => true });
      const { isError, text } = await call('two', { a: tIban(1), b: tIban(2) });
      expect([isError, text]).toEqual([true, expect.stringContaining('PAID_CALLS_EXCEEDED')]);
      expect([questions, upstream.calls]).toEqual([[], []]);
      write({ two: two(2) });
      const describe = async () =>
        (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.at(-1)?.description;
      await expect.poll(describe).toContain('2 paid calls');
      expect((await call('two', { a: tIban(3), b: tIban(4) })).isError).toBe(false);
      expect([questions.length, upstream.calls.length]).toEqual([asked, 2]);
    },
  );

  it.each([
    ['more calls', '', { a: tIban(1), b: tIban(2), more: [1, 2] }],
    [
      'a field that its input does not have',
      '"@tool" query two($i: GenerateIbanInput!) { generateIban(input: $i) { __typename } }',
      { i: { country: 'DE', more: [1, 2] } },
    ],
  ])('refuses other arguments, as for %s', async (_, text, args) => {
    const documents = { two: text || two(1).replace('(calls: 1)', '') };
    const { origin, upstream, log } = await tDocuments(documents, { isPaid: true, env: never });
    const { body } = await tPost(origin, 'tools/call', { name: 'two', arguments: args });
    expect(body.toString()).toContain(' must not have more, only ');
    expect(log()).not.toContain('unexpected error');
    expect(upstream.calls).toHaveLength(0);
  });

  it.each([
    [
      'the name of another tool',
      '"@tool" query check_iban($iban: String!) { ibanValidation(iban: $iban) { valid } }',
      'two tools',
    ],
    ['no name', '"@tool" query { ibanValidation(iban: "DE00") { valid } }', 'must be one query or mutation'],
    [
      'a subscription',
      '"@tool" subscription Watch($id: ID!) { essayOrder(id: $id) { id } }',
      'Watch must be one query or mutation',
    ],
    [
      'no number of calls',
      '"@tool(calls: 0)" query Free($iban: String!) { ibanValidation(iban: $iban) { valid } }',
      '@tool(calls: 0) must have a number of paid calls from 1',
    ],
    [
      'more calls than a day could have',
      '"@tool(calls: 12345678901)" query Many($iban: String!) { ibanValidation(iban: $iban) { valid } }',
      'must have a number of paid calls',
    ],
    [
      'the argument for the consent',
      '"@tool" query Own($confirmation: String!) { ibanValidation(iban: $confirmation) { valid } }',
      'Own must have no variable confirmation',
    ],
    [
      'fields of two services',
      '"@tool" query Two { ibanValidation(iban: "DE00") { valid } essay(id: "1") { text } }',
      'of one service',
    ],
    ['the name of a property', '"@tool" query valueOf { ibanValidation(iban: "DE00") { valid } }', 'valueOf must'],
    ['an unknown field', '"@tool" query Wrong { bankOf(iban: "DE00") { valid } }', 'Cannot query field'],
  ])('with %s is not offered as a tool, and the log says why', async (_, text, message) => {
    const { origin, log } = await tDocuments({ text });
    const { client } = await tMcpClient(origin);
    expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(names);
    expect(log()).toContain(message);
  });

  it.each(['is for @toolshed', 'asks mail@tool.example', 'has @tool-box'])(
    'whose description %s is not offered as a tool',
    async (words) => {
      const text = `"It ${words}" query Other($iban: String!) { ibanValidation(iban: $iban) { valid } }`;
      const { origin } = await tDocuments({ text });
      const { client } = await tMcpClient(origin);
      expect((await client.listTools()).tools).toHaveLength(names.length);
    },
  );

  it('has the number of its calls with or without a space', async () => {
    const text = '"@tool(calls:2)" query Two($iban: String!) { ibanValidation(iban: $iban) { valid } }';
    const { origin } = await tDocuments({ text });
    const { client } = await tMcpClient(origin);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'Two')?.description).toBe('Costs at most 2 paid calls.');
  });

  const orderOf = (name: string, mode: string) => `"@tool" mutation ${name}($about: String!, $idempotencyKey: ID!) {
    startEssay(input: { description: $about, wordCount: 9, mode: ${mode}, idempotencyKey: $idempotencyKey }) {
      ... on EssayOrder { id } } }`;

  it('orders another essay than a second one with the same arguments', async () => {
    const { origin } = await tDocuments(
      { news: orderOf('news', 'NEWS_REPORT'), paper: orderOf('paper', 'ACADEMIC') },
      { env: never },
    );
    const { call } = await tMcpClient(origin);
    const order = async (name: string) => (await call(name, { about: 'Pens' })).data?.startEssay;
    const first = await order('news');
    expect(first).toMatchObject({ id: expect.any(String) });
    expect(await order('news')).toEqual(first);
    const other = await order('paper');
    expect(other).toMatchObject({ id: expect.any(String) });
    expect(other).not.toEqual(first);
  });

  it('that finds an order by its id gets no derived key', async () => {
    const find =
      '"@tool" query findOrder($id: ID, $idempotencyKey: ID) { essayOrder(id: $id, idempotencyKey: $idempotencyKey) { id } }';
    const { origin } = await tDocuments({ find, news: orderOf('news', 'STANDARD') }, { env: never });
    const { call } = await tMcpClient(origin);
    const order = (await call('news', { about: 'Pens' })).data?.startEssay as { id: string };
    expect((await call('findOrder', { id: order.id })).data).toEqual({ essayOrder: order });
  });

  it('that costs more than was confirmed is confirmed again', async () => {
    const { origin, upstream, write } = await tDocuments({ two: two(2) }, { isPaid: true });
    const { client, call } = await tMcpClient(origin);
    const args = { a: tIban(1), b: tIban(2) };
    const [, confirmation] = /"confirmation": "([^"]+)"/.exec((await call('two', args)).text) ?? [];
    expect(confirmation).toEqual(expect.any(String));
    write({ two: two(3).replace(' b: iban', ' c: bicValidation(bic: "COBADEFF") { valid } b: iban') });
    const describe = async () =>
      (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.find(({ name }) => name === 'two')
        ?.description;
    await expect.poll(describe).toContain('3 paid calls');
    expect((await call('two', { ...args, confirmation })).text).toContain('two makes up to 3 paid calls');
    expect(upstream.calls).toHaveLength(0);
  });

  it('that is added becomes a tool without a restart', async () => {
    const { origin, write } = await tDocuments({ other: documents.other });
    const { client } = await tMcpClient(origin);
    expect((await client.listTools()).tools).toHaveLength(names.length);
    write(documents);
    const count = async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.length;
    await expect.poll(count).toBe(names.length + 2);
  });
});

it('is executed where only trusted documents are, and does not exist if MCP is off', async () => {
  const folder = tFolder();
  writeFileSync(join(folder, 'trusted.json'), JSON.stringify({ limits: 'query Limits { limits { ibans } }' }));
  const { origin, post } = await tListeningGateway({ TRUSTED_DOCUMENTS: folder, ...never });
  expect((await post({ query: '{ limits { ibans } }' })).json().errors[0]?.extensions.code).toBe(
    'QUERY_NOT_IN_SAFELIST',
  );
  const { call } = await tMcpClient(origin);
  expect((await call('check_iban', { iban: tIban(1) })).isError).toBe(false);
  const off = await tListeningGateway({ MCP: 'off' });
  expect((await fetch(`${off.origin}/mcp`, { method: 'POST' })).status).toBe(404);
});

/** A message of the older edition. */
function tPost(origin: string, method: string, params: object, accept: string | null = mcpHeaders.accept) {
  const { accept: _, ...others } = mcpHeaders;
  const headers = accept === null ? others : { ...others, accept };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return tSend(`${origin}/mcp`, { method: 'POST', headers, body });
}

it.each([
  ['40,000 objects', 'tools/list', { _meta: { a: Array(40_000).fill({}) } }, 'JSON may have at most 4000 values.'],
  [
    '4,000 numbers',
    'tools/call',
    { name: 'check_ibans', arguments: { ibans: Array(4_000).fill(1) } },
    'JSON may have at most 4000 values.',
  ],
  [
    'deep lists',
    'initialize',
    JSON.parse(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`),
    'JSON may be nested at most 30 levels deep.',
  ],
])('refuses a message with %s before it is validated', async (_, method, params, message) => {
  const { origin } = await tListeningGateway(never);
  const { status, json } = await tPost(origin, method, params);
  expect([status, json().errors[0]?.message]).toEqual([400, message]);
});

it('sends one message for all wrong values of a call', async () => {
  const { origin } = await tListeningGateway(never);
  const { status, body } = await tPost(origin, 'tools/call', {
    name: 'check_ibans',
    arguments: { ibans: Array(1_000).fill(1) },
  });
  expect(status).toBe(200);
  expect(body.toString()).toContain('ibans.0 must be string');
  expect(body.length).toBeLessThan(1_000);
});

it.each([
  ['*/*', 200, 'application/json'],
  ['application/*', 200, 'application/json'],
  [null, 200, 'application/json'],
  ['application/json', 200, 'application/json'],
  ['application/json, text/event-stream', 200, 'text/event-stream'],
  ['text/html', 406, 'application/json; charset=utf-8'],
  ['application/json;q=0, */*', 406, 'application/graphql-response+json; charset=utf-8'],
])('answers a client that accepts %s with %i and %s', async (accept, status, type) => {
  const { origin } = await tListeningGateway(never);
  const received = await tPost(origin, 'tools/list', {}, accept);
  expect([received.status, received.headers['content-type']]).toEqual([status, type]);
  if (status === 200 && type === 'application/json') expect(received.json()).toHaveProperty('result.tools');
});
