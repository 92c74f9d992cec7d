import { expect, it } from 'vitest';
import { as, keyOf, tCallers } from '../../support/gateway/callers.ts';
import { tMcpClient } from '../../support/gateway/mcp/mcp-client.ts';
import { tCollector } from '../../support/gateway/telemetry/otlp-collector.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { bankDataKey, essaysKey } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { replyText, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';

/* What operators and clients see of the calls of tools. */

async function tObservedTools(env = {}, reply = replyWithIban) {
  const upstream = await tUpstream(reply);
  const collector = await tCollector();
  const { url } = upstream;
  const gateway = await tCallers({
    callers: { shop: 'bank-data+essays' },
    upstream,
    env: {
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...{ BANK_DATA_URL: url, BANK_DATA_API_KEY: bankDataKey, ESSAY_URL: url, ESSAY_API_KEY: essaysKey },
      ...env,
    },
  });
  return { ...gateway, collector };
}

const confirmationIn = (text: string) => /"confirmation": "([^"]+)"/.exec(text)?.[1] ?? expect.unreachable(text);

it('metrics count each tool by its name, and show what remains of its cap, but not of each consent', async () => {
  const { origin, upstream, metricsUrl } = await tObservedTools({ MCP_TOOL_CALLS: '10' });
  const { call } = await tMcpClient(origin, { caller: 'shop' });
  for (let index = 0; index < 3; index += 1) {
    const args = { iban: tIban(index) };
    const confirmation = confirmationIn((await call('check_iban', args)).text);
    expect((await call('check_iban', { ...args, confirmation })).isError).toBe(false);
  }
  for (let index = 0; index < 2; index += 1) await call('iban_format', { iban: tIban(index) });
  const { value, text } = await scrape(metricsUrl());
  const countOf = (name: string) =>
    value('ledgerquill_graphql_requests_total', { graphql_operation_type: 'query', graphql_operation_name: name });
  expect([countOf('check_iban'), countOf('iban_format'), countOf('check_bic')]).toEqual([3, 2, undefined]);
  expect(upstream.calls).toHaveLength(3);
  expect(value('ledgerquill_budget_remaining', { caller: 'api-key:shop check_iban' })).toBe(7);
  expect(text).not.toContain('consent');
});

it('the log has a question as an outcome, with its tool and caller, and no call', async () => {
  const { origin, log } = await tObservedTools();
  const { call } = await tMcpClient(origin, { caller: 'shop' });
  await call('check_iban', { iban: tIban(1) });
  await expect.poll(log).toContain('ConsentRequired');
  const line = log()
    .split('\n')
    .find((text) => text.includes('ConsentRequired'));
  expect(JSON.parse(line ?? '')).toMatchObject({
    route: '/mcp',
    status: 200,
    operationName: 'check_iban',
    caller: 'api-key:shop',
    outcomes: ['ConsentRequired'],
  });
  expect(log()).not.toContain('"upstreamCalls":1');
});

it('keys, confirmations and IBANs are in no log line, trace or metric, nor a key in a result', async () => {
  const { origin, log, metricsUrl, collector, close, upstream } = await tObservedTools();
  const { call } = await tMcpClient(origin, { caller: 'shop' });
  const description = 'Seeded topic of an essay';
  const args = { iban: tIban(1) };
  const seen: string[] = [];
  const secrets = [keyOf('shop'), bankDataKey, essaysKey];
  const confirmation = confirmationIn((await call('check_iban', args)).text);
  // The service echoes its key, with the IBAN, in a failure, and in a name.
  const echo = `${bankDataKey} ${essaysKey} ${tIban(1)}`;
  upstream.answers(replyText(400, JSON.stringify({ message: echo })));
  seen.push((await call('check_iban', { ...args, confirmation })).text);
  upstream.answers(
    replyText(200, JSON.stringify({ valid: true, iban: tIban(2), bank_data: { name: `<${echo}>` } }), {
      'content-type': 'application/json',
    }),
  );
  const other = { iban: tIban(2) };
  const found = await call('check_iban', {
    ...other,
    confirmation: confirmationIn((await call('check_iban', other)).text),
  });
  seen.push(found.text);
  const order = { description, wordCount: 100 };
  const ordered = confirmationIn((await call('order_essay', order)).text);
  seen.push((await call('order_essay', { ...order, confirmation: ordered })).text);
  seen.push((await call('check_iban', { iban: 7 })).text);
  const unknown = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...as('shop') },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tIban(3)} ${keyOf('shop')}"}`,
  });
  seen.push(await unknown.text());
  const { text: metrics } = await scrape(metricsUrl());
  await close();
  const traces = collector.requests.map(({ text }) => text).join('');
  expect(traces).toContain('check_iban');
  for (const secret of secrets)
    for (const text of [...seen, log(), traces, metrics]) expect(text).not.toContain(secret);
  for (const value of [tIban(1), tIban(2), tIban(3), description, confirmation, ordered]) {
    for (const text of [log(), traces, metrics]) expect(text).not.toContain(value);
  }
});
