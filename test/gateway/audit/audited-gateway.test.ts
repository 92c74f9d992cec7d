import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readCalls } from '../../../src/gateway/audit/read-audit.ts';
import { runCommand } from '../../support/command.ts';
import { as, ec, jwt, keyOf, pemOf, tCallers, tToken } from '../../support/gateway/callers.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { bankDataKey, essaysKey } from '../../support/gateway.ts';
import { type Reply, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* The audit trail of a whole gateway: who has caused which call. */

const iban = 'DE89370400440532013000';
const essay = 'Pens hold ink, and they hold it well for a long time. '.repeat(20);
const valid: Reply = replyJson(200, { valid: true, essay });
const lookUp = `query Payee { ibanValidation(iban: "${iban}") { valid } }`;
const orderWith = (field: string, key: string) => `mutation Write {
  ${field}(input: { description: "Pens for ${iban}", wordCount: 100, idempotencyKey: "${key}" }) { __typename }
}`;

async function tAudited(
  given: { callers?: Record<string, string>; env?: object; reply?: Reply; dataDir?: string } = {},
) {
  const { env = {}, reply = valid, dataDir = tFolder() } = given;
  const { callers = { shop: 'bank-data+essays', bank: 'bank-data' } } = given;
  const upstream = await tUpstream(reply);
  const settings = {
    BANK_DATA_URL: upstream.url,
    ESSAY_URL: upstream.url,
    STORE_SECRET: secret,
    AUDIT_DAYS: '400',
    ...keys,
  };
  const gateway = await tCallers({
    callers,
    env: { ...settings, DATA_DIR: dataDir, ...env },
    upstream,
  });
  const folder = join(dataDir, 'audit');
  return {
    ...gateway,
    folder,
    askAs: async (name: string, query: string, headers = {}) =>
      (await gateway.post({ query }, { ...as(name), ...headers })).json(),
    calls: () => [...readCalls(folder, '0000-00-00', '9999-99-99')],
    text: () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join(''),
    /** Runs a command with the settings of the gateway. */
    run: (...args: string[]) => runCommand(args, { ...settings, DATA_DIR: dataDir, ...env }),
  };
}

const secret = 'a-seeded-secret-of-the-store';
const keys = { BANK_DATA_API_KEY: bankDataKey, ESSAY_API_KEY: essaysKey };

it('names request, caller, operation, document and order, and contains no IBAN, text or secret', async () => {
  const gateway = await tAudited();
  const { askAs, calls, log, upstream } = gateway;
  await askAs('bank', lookUp, { 'x-request-id': iban });
  await askAs('shop', orderWith('generateEssay', 'form-1'), { 'x-request-id': 'request-2' });
  await askAs('shop', orderWith('startEssay', 'form-2'));
  await vi.waitUntil(() => log().includes('an order ended'));
  await gateway.close();
  expect(upstream.calls).toHaveLength(3);
  expect(calls()).toMatchObject([
    { caller: 'api-key:bank', service: 'bank-data', request: '[IBAN]', operation: 'Payee', order: '', charged: 'yes' },
    {
      caller: 'api-key:shop',
      service: 'essays',
      tool: 'essay',
      request: 'request-2',
      operation: 'Write',
      charged: 'yes',
    },
    { caller: 'api-key:shop', service: 'essays', request: '', operation: '', charged: 'yes' },
  ]);
  const orders = calls().map(({ order }) => order);
  expect(new Set(orders).size).toBe(3);
  for (const hidden of [iban, 'Pens', secret, keyOf('shop'), keyOf('bank'), bankDataKey, essaysKey])
    expect(gateway.text()).not.toContain(hidden);

  const ended = log()
    .split('\n')
    .find((line) => line.includes('an order ended'));
  expect(JSON.parse(ended ?? '')).toMatchObject({ orderId: orders[2], caller: 'api-key:shop', upstreamCalls: 1 });
});

it('names a persisted document, and none of a text', async () => {
  const { post, calls } = await tAudited();
  const sha256Hash = hash('sha256', lookUp);
  const persisted = { query: lookUp, extensions: { persistedQuery: { version: 1, sha256Hash } } };
  await post(persisted, as('bank'));
  await post({ query: lookUp.replace(iban, 'NL91ABNA0417164300') }, as('bank'));
  expect(calls().map(({ document }) => document)).toEqual([sha256Hash, '']);
});

it('counts paid calls by configured caller', async () => {
  const token = await tToken({ scope: 'bank-data' });
  const { askAs, post, metricsUrl } = await tAudited({
    env: { METRICS_PORT: '0', ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) },
  });
  await askAs('shop', orderWith('generateEssay', 'form-1'));
  await askAs('bank', lookUp);
  await post({ query: lookUp.replace(iban, 'NL91ABNA0417164300') }, { authorization: `Bearer ${token}` });
  const { value } = await scrape(metricsUrl());
  const paid = (service: string, caller: string) => value('ledgerquill_paid_calls_total', { service, caller });
  expect([paid('essays', 'api-key:shop'), paid('bank-data', 'api-key:bank'), paid('bank-data', 'other')]).toEqual([
    1, 1, 1,
  ]);
});

it('says what calls cost: in the quote, the cost, the metric and the sums of the trail, each currency apart', async () => {
  const { askAs, metricsUrl, run, close } = await tAudited({
    callers: { shop: 'bank-data+essays+cost' },
    env: { METRICS_PORT: '0', BANK_DATA_PRICE: '0.0125 EUR', ESSAY_PRICE: '1.5 USD' },
  });
  const both =
    'query { a: ibanValidation(iban: "NL91ABNA0417164300") { valid } b: bicValidation(bic: "COBADEFF") { valid } }';
  expect(await askAs('shop', both, { 'paid-calls': 'quote' })).toEqual({
    data: null,
    extensions: { quote: { bankData: 2, essays: 0, price: ['0.025 EUR'] } },
  });
  const price = (text: string) => ({ extensions: { cost: { price: [text] } } });
  expect(await askAs('shop', both, { 'x-cost': '1' })).toMatchObject(price('0.025 EUR'));
  const order = orderWith('generateEssay', 'form-1');
  expect(await askAs('shop', order, { 'x-cost': '1' })).toMatchObject(price('1.50 USD'));
  const { value } = await scrape(metricsUrl());
  const spent = (labels: object) => value('ledgerquill_paid_millionths_total', { caller: 'api-key:shop', ...labels });
  expect([spent({ currency: 'EUR' }), spent({ currency: 'USD' })]).toEqual([25_000, 1_500_000]);
  await close();
  expect((await run('audit', 'sum', '--by', 'caller,operation')).stdout).toBe(
    `caller,operation,${sumColumns}\napi-key:shop,,2,2,0,0,0,0.025,0.00,EUR\napi-key:shop,Write,1,1,0,0,0,1.50,0.00,USD\n`,
  );
});

const sumColumns = 'calls,charged,unknown,open,not_sent,amount,unknown_amount,currency';

it('begins a file each day, counts a look-up on the day of its end, and deletes files by AUDIT_DAYS', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-27T23:59:59Z') });
  const { askAs, folder, upstream, close } = await tAudited({ env: { AUDIT_DAYS: '2' } });
  const days = () => readdirSync(folder).map((name) => name.slice(0, 10));
  const ask = (account: string) => askAs('bank', lookUp.replace(iban, account));
  await ask('NL91ABNA0417164300');
  await vi.waitUntil(() => existsSync(folder) && days().length === 1);
  upstream.answers((response, call) => {
    vi.setSystemTime('2026-11-28T00:00:01Z');
    return valid(response, call);
  });
  await ask('FR1420041010050500013M02606');
  await vi.waitUntil(() => days().length === 2);
  expect(days().sort()).toEqual(['2026-11-27', '2026-11-28']);
  for (const day of days()) expect([...readCalls(folder, day, day)]).toMatchObject([{ day, charged: 'yes' }]);
  upstream.answers(valid);
  const [first = ''] = readdirSync(folder).sort();
  utimesSync(join(folder, first), new Date('2026-11-27'), new Date('2026-11-27'));
  vi.advanceTimersByTime(2.5 * 86_400_000);
  await ask(iban);
  await vi.waitUntil(() => days().includes('2026-11-30'));
  expect(days().sort()).toEqual(['2026-11-28', '2026-11-30']);
  await close();
});

it('keeps lines while its folder is a file, and writes them without further calls', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { askAs, folder, calls, metricsUrl, log } = await tAudited({ env: { METRICS_PORT: '0' } });
  const waiting = async () => (await scrape(metricsUrl())).value('ledgerquill_audit_lines_waiting');
  await askAs('bank', lookUp);
  expect(await waiting()).toBe(0);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file in place of the folder');
  expect(await askAs('bank', lookUp.replace(iban, 'NL91ABNA0417164300'))).toMatchObject({
    data: { ibanValidation: { valid: true } },
  });
  await vi.waitFor(async () => expect(await waiting()).toBe(1));
  expect(log()).toContain('the audit trail cannot be written');
  vi.advanceTimersByTime(5_000);
  expect(await waiting()).toBe(1);
  rmSync(folder);
  vi.advanceTimersByTime(1_000);
  expect(existsSync(folder)).toBe(true);
  expect(await waiting()).toBe(0);
  expect(calls()).toMatchObject([{ outcome: 'answered' }]);
  expect(log()).toContain('the audit trail is written again');
});

it('sums and exports by commands, and finds the hash of a subject', async () => {
  const token = await tToken({ sub: 'alice@example.com', scope: 'bank-data' });
  const { askAs, post, run, close } = await tAudited({ env: { ...jwt, JWT_PUBLIC_KEY: pemOf(ec.publicKey) } });
  await askAs('bank', lookUp);
  await post({ query: lookUp.replace(iban, 'NL91ABNA0417164300') }, { authorization: `Bearer ${token}` });
  await close();
  const name = (await run('caller-hash', 'alice@example.com')).stdout.trim();
  expect(name).toMatch(/^jwt:[\w-]{11}$/);
  expect((await run('audit', 'sum', '--by', 'caller')).stdout).toBe(
    `caller,${sumColumns}\napi-key:bank,1,1,0,0,0,,,\n${name},1,1,0,0,0,,,\n`,
  );
  const exported = (await run('audit', 'export', '--format', 'csv')).stdout.trim().split('\n');
  expect(exported).toHaveLength(3);
  expect(exported[0]).toMatch(/^at,day,process,caller,service,tool,/);
  expect((await run('audit', 'export', '--from', '2999-01-01')).stdout).toBe('');
  for (const day of ['2026-02-30', '2026-13-01', '27.11.2026']) {
    expect((await run('audit', 'sum', '--from', day)).stderr).toContain('--from must be a day');
  }
  const reversed = await run('audit', 'sum', '--from', '2026-12-01', '--to', '2026-11-01');
  expect(reversed).toMatchObject({ code: 2, stderr: expect.stringContaining('2026-12-01 is after 2026-11-01') });
});

it.each(['sum', 'export'])('a folder without a trail is named by %s: it may be that of no gateway', async (action) => {
  const dataDir = tFolder();
  const { code, stdout, stderr } = await runCommand(['audit', action], { DATA_DIR: dataDir });
  expect([code, stderr]).toEqual([
    0,
    `${join(dataDir, 'audit')} has no audit trail; DATA_DIR must be that of the gateway\n`,
  ]);
  expect(stdout).not.toContain('api-key');
});

it('names the cause of each call', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-11-27T12:00:00Z') });
  const { askAs, calls, upstream } = await tAudited({
    env: { BANK_DATA_FRESH_S: '3600', BANK_DATA_STALE_S: '7200' },
  });
  let number = 0;
  upstream.answers((response, call) => {
    number += 1;
    return (number === 1 ? replyJson(500, {}) : valid)(response, call);
  });
  await askAs('shop', lookUp);
  vi.setSystemTime(Date.now() + 1.5 * 3_600_000);
  await askAs('bank', lookUp);
  await vi.waitUntil(() => calls().filter(({ outcome }) => outcome === 'answered').length === 3, {
    timeout: 100_000,
  });
  vi.setSystemTime(Date.now() + 5 * 3_600_000);
  await askAs('bank', lookUp);
  const rows = calls().map(({ caller, cause, outcome, status }) => [caller, cause, outcome, status].join(' '));
  expect(rows.slice(0, 3)).toEqual([
    'api-key:shop new answered 500',
    'api-key:shop retry answered 200',
    'api-key:bank revalidation answered 200',
  ]);
  expect(rows[3]).toMatch(/^api-key:bank expired/);
  expect(upstream.calls).toHaveLength(4);
});
