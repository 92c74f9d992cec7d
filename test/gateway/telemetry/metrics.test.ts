import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorCodes } from '../../../src/base/errors.ts';
import { createRecord } from '../../../src/gateway/graphql/request/reply.ts';
import { definitions } from '../../../src/gateway/telemetry/metrics/definitions.ts';
import { createExposition, formatMetrics } from '../../../src/gateway/telemetry/metrics/exposition.ts';
import { createMetrics } from '../../../src/gateway/telemetry/metrics/metrics.ts';
import { Histogram } from '../../../src/gateway/telemetry/metrics/series.ts';
import { as, sha256, tCallers } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { succeeded, tPaidCall } from '../../support/gateway/telemetry/events.ts';
import {
  checkWithPromtool,
  readMetrics,
  type Scraped,
  scrape,
  whyNoPromtool,
} from '../../support/gateway/telemetry/scrape.ts';
import { tIban } from '../../support/ibans.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/** Every IBAN is valid, and every order is an essay. */
const replyWell: Reply = (response, call) => {
  const iban = call.query.get('iban_number');
  return replyJson(200, iban === null ? { essay: 'An essay.' } : { valid: true, iban })(response, call);
};
const until = (isTrue: () => Promise<boolean>) => vi.waitUntil(isTrue, { interval: 5, timeout: 100_000 });

const validate = (...ibans: string[]) => ({
  query: 'query Check($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }',
  variables: { ibans },
});
const order = (idempotencyKey: string) => ({
  query: 'mutation Order($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }',
  variables: { input: { description: 'Pens', wordCount: 100, idempotencyKey } },
});

describe.skipIf(whyNoRedis !== '')(`a day${whyNoRedis}`, () => {
  it('is visible in every metric', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:00Z') });
    const redis = await tRedis();
    const upstream = await tUpstream(replyWell);
    const gateway = await tCallers({
      callers: { shop: 'bank-data+essays', limited: 'bank-data', writer: 'essays' },
      upstream,
      env: {
        METRICS_PORT: '0',
        REDIS_URL: redis.url,
        STORE_SECRET: 'seeded-store-secret-of-32-characters',
        BANK_DATA_MONTHLY_ALLOWANCE: '30',
        ESSAY_MONTHLY_ALLOWANCE: '10',
        BANK_DATA_PRICE: '0.01 EUR',
        CALLER_BANK_DATA_CALLS: '1 EUR/day',
        CALLER_ESSAY_CALLS: '2/day',
        CALLER_REQUESTS_PER_MINUTE: '60',
        REQUEST_LOG_PER_SECOND: '1',
      },
    });
    const { post, metricsUrl } = gateway;
    const shop = as('shop');
    const read = () => scrape(metricsUrl());

    // Traffic: a call, an answer from the cache, a kept reply, and two requests that share a call.
    for (let count = 0; count < 3; count += 1) await post(validate(tIban(1)), shop);
    const { reply, release } = replyHeld(replyWell);
    upstream.answers(reply);
    const called = upstream.nextCall();
    const both = [post(validate(tIban(2)), shop), post(validate(tIban(2)), shop)];
    await called;
    await until(async () => (await read()).value('ledgerquill_joined_flights_total') === 1);
    expect((await read()).value('ledgerquill_bulkhead_active', { service: 'bank-data' })).toBe(1);
    expect((await read()).value('http_server_active_requests')).toBe(2);
    release();
    await Promise.all(both);
    upstream.answers(replyWell);
    const traffic = await read();
    expect(traffic.values('ledgerquill_saved_calls_total', 'by', ['cache', 'kept_reply', 'flight'])).toEqual([1, 1, 1]);
    expect(traffic.value('ledgerquill_kept_replies_total')).toBe(1);
    expect(traffic.value('ledgerquill_cache_entries', { cache: 'look_ups' })).toBe(2);
    const ofShop = { caller: 'api-key:shop', service: 'bank-data' };
    const budget = ['limit', 'used', 'remaining'].map((name) => traffic.value(`ledgerquill_budget_${name}`, ofShop));
    expect(budget).toEqual([100, 2, 98]);
    const post200 = { http_request_method: 'POST', http_route: '/graphql', http_response_status_code: '200' };
    expect(traffic.value('http_server_request_duration_seconds_bucket', { ...post200, le: '+Inf' })).toBe(5);
    expect(traffic.value('ledgerquill_request_overhead_seconds_count')).toBe(5);

    // The upstream fails until the circuit breaker opens, and works again. Then the allowance runs out.
    upstream.answers(replyJson(500, {}));
    for (let count = 10; count < 15; count += 1) await post(validate(tIban(count)), shop);
    upstream.answers(replyWell);
    vi.setSystemTime(Date.now() + 1_500);
    await post(validate(tIban(20)), shop);
    await post(validate(...Array.from({ length: 30 }, (_, index) => tIban(100 + index))), shop);

    // Essays: an order, the same again, one that is not valid, and one beyond the budget.
    for (const key of ['k1', 'k1', '', 'k2', 'k3']) await post(order(key), shop);
    const ordered = await read();
    const outcomes = ['generated', 'from_key', 'rejected', 'exhausted'];
    expect(ordered.values('ledgerquill_essays_total', 'outcome', outcomes)).toEqual([2, 1, 1, 1]);
    expect(ordered.value('ledgerquill_saved_calls_total', { by: 'idempotency_key' })).toBe(1);
    expect(ordered.value('ledgerquill_budget_remaining', { caller: 'api-key:shop', service: 'essays' })).toBe(0);

    // Refusals.
    await post(validate(tIban(1)));
    await post(validate(tIban(1)), as('writer'));
    await post({ query: `{ ${'x'.repeat(1_000_000)} }` }, shop);
    for (let count = 0; count < 61; count += 1) await post({ query: '{ __typename }' }, as('limited'));
    const refused = await read();
    const limits = ['unauthenticated', 'forbidden', 'body_size', 'rate_limit', 'budget'];
    expect(refused.values('ledgerquill_refusals_total', 'limit', limits)).toEqual([1, 1, 1, 1, 1]);
    expect(refused.value('ledgerquill_log_lines_dropped_total')).toBeGreaterThan(0);

    // Redis dies and returns.
    await redis.stop();
    await until(async () => (await read()).value('ledgerquill_store_up') === 0);
    await redis.restart();
    await until(async () => (await read()).value('ledgerquill_store_up') === 1);

    const atEnd = await read();
    expect(Object.keys(definitions).filter((name) => !atEnd.names.has(name))).toEqual(absent);
    expect([...atEnd.names].filter((name) => !(name in definitions))).toEqual([]);
    expectLabels(atEnd);
    if (whyNoPromtool === '') expect(checkWithPromtool(atEnd.text)).toBe('');

    // Metrics are served until the last request was answered.
    const last = replyHeld(replyWell);
    upstream.answers(last.reply);
    const lastCall = upstream.nextCall();
    const sent = post(order('k9'), as('writer'));
    await lastCall;
    const closed = gateway.close();
    expect((await read()).value('http_server_active_requests')).toBe(1);
    last.release();
    expect((await sent).status).toBe(200);
    await closed;
    await expect(read()).rejects.toThrow('fetch failed');
  });
});

/** Without tokens. */
const absent = ['ledgerquill_issuer_up'];

/** Every series has its labels, with their values where they are known. Histograms also have their bounds. */
function expectLabels({ text }: Scraped): void {
  for (const [name, { labels }] of Object.entries<{ labels: Record<string, readonly string[] | null> }>(definitions)) {
    if (absent.includes(name)) continue;
    const lines = text.match(new RegExp(`^${name}(_sum|_count)?[{ ].*$`, 'gm')) ?? [];
    expect(lines, name).not.toEqual([]);
    for (const line of lines) {
      const found = [...line.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label = '', value]) => ({ label, value }));
      expect([name, ...found.map(({ label }) => label)]).toEqual([name, ...Object.keys(labels)]);
      for (const { label, value } of found) expect(labels[label] ?? [value], line).toContain(value);
    }
  }
}

it.skipIf(whyNoPromtool)(
  `promtool accepts the metrics of a gateway that has just started${whyNoPromtool}`,
  async () => {
    const { metricsUrl } = await tListeningGateway({ METRICS_PORT: '0' });
    const { text } = await scrape(metricsUrl());
    expect(checkWithPromtool(text)).toBe('');
  },
);

describe('metrics', () => {
  it('are off by default, and never on the public port', async () => {
    const off = await tListeningGateway();
    expect(off.metricsUrl()).toBeNull();
    expect((await fetch(`${off.origin}/metrics`)).status).toBe(404);
    const on = await tListeningGateway({ METRICS_PORT: '0' });
    expect((await fetch(`${on.origin}/metrics`)).status).toBe(404);
    const url = on.metricsUrl() ?? '';
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(url.replace('/metrics', '/graphql'))).status).toBe(404);
  });

  it('count an operation by its name if the operator knows the document', async () => {
    const { finish, read } = tMetrics();
    const reply = { ...graphqlReply, operationName: 'Payee', isTrusted: true };
    finish({ reply }, 2);
    finish({ reply: { ...reply, isTrusted: false } }, 3);
    const requests = (graphql_operation_name: string) =>
      read().then(({ value }) => value('ledgerquill_graphql_requests_total', { graphql_operation_name }));
    expect(await requests('Payee')).toBe(2);
    expect(await requests('other')).toBe(3);
  });

  it('count from 0 what alerts compare, so that the first failures are seen as an increase', async () => {
    const { metrics, read } = tMetrics();
    const { value, values } = await read();
    for (const http_request_method of ['GET', 'POST']) {
      for (const http_response_status_code of ['200', '500', '503']) {
        const labels = { http_request_method, http_route: '/graphql', http_response_status_code };
        expect(value('http_server_request_duration_seconds_count', labels)).toBe(0);
      }
    }
    const timedOut = { service: 'bank-data', error_type: 'timed-out', le: '+Inf' };
    expect(value('http_client_request_duration_seconds_bucket', timedOut)).toBe(0);
    const outcomes = ['answered', 'failed', 'refused', 'rejected', 'shed', 'blocked', 'exhausted'];
    expect(values('ledgerquill_upstream_operations_total', 'outcome', outcomes)).toEqual(outcomes.map(() => 0));
    expect(values('ledgerquill_graphql_errors_total', 'code', errorCodes)).toEqual(errorCodes.map(() => 0));
    expect(values('ledgerquill_refusals_total', 'limit', ['overloaded', 'connections', 'forbidden'])).toEqual([
      0, 0, 0,
    ]);
    expect(values('ledgerquill_essays_total', 'outcome', ['generated', 'failed'])).toEqual([0, 0]);
    expect(value('ledgerquill_paid_calls_total', { service: 'essays' })).toBe(0);

    const outcome = { kind: 'answered', status: 200, fault: null } as const;
    metrics.events.callEnded?.(tPaidCall({ path: '/iban' }), { outcome, isSent: true, durationMs: 1 });
    const opened = { endpoint: '/iban', state: 'open' };
    expect((await read()).value('ledgerquill_circuit_breaker_transitions_total', opened)).toBe(0);
  });

  it('can be read while many connections send incomplete requests', async () => {
    const { metricsUrl } = await tListeningGateway({ METRICS_PORT: '0' });
    for (const socket of tSockets(metricsUrl() ?? '', 30))
      await new Promise((resolve) => socket.write('GET /metrics HTTP/1.1\r\n', resolve));
    expect((await scrape(metricsUrl())).names).toContain('ledgerquill_build_info');
  });

  it('count connections beyond the limit', async () => {
    const { origin, metricsUrl } = await tListeningGateway({ METRICS_PORT: '0', MAX_CONNECTIONS: '1' });
    tSockets(origin, 3);
    const ofConnections = { limit: 'connections' };
    await until(async () => (await scrape(metricsUrl())).value('ledgerquill_refusals_total', ofConnections) === 2);
  });

  it('have a bounded number of series, whatever clients and upstreams send', async () => {
    const { metrics, finish, read } = tMetrics();
    const { callEnded, circuitChanged } = metrics.events;
    for (let number = 0; number < 10_000; number += 1) {
      const operationName = `Operation${number}`;
      const names = { clientName: `client-${number}`, callerName: `jwt:${number}`, requestId: tIbanText(number) };
      const document = { documentId: sha256(operationName), isTrusted: number % 2 === 0 };
      const reply = { ...graphqlReply, operationName, ...document };
      finish({ ...names, method: `M${number}`, status: number, errorCodes: [`CODE_${number}`], reply }, 1);
      const ended = { isSent: true, durationMs: 1 };
      callEnded?.(tPaidCall({ path: `/${number}` }), {
        ...ended,
        outcome: { kind: 'answered', status: number, fault: null },
      });
      callEnded?.(tPaidCall({ path: `/${number}` }), {
        ...ended,
        outcome: { kind: 'failed', reason: `reason ${number}` },
      });
      circuitChanged?.('bank-data', `/${number}`, 'open', null);
    }
    const { series, value, text } = await read();
    expect(series).toBeLessThan(2 * 201 * 23 + 500 + 100 + 300 + 303 + 200);
    expect(value('ledgerquill_graphql_requests_total')).toBe(10_000);
    expect(value('http_server_request_duration_seconds_count')).toBe(10_000);
    expect(value('ledgerquill_graphql_errors_total', { code: 'other' })).toBe(9_900 + errorCodes.length);
    expect(text).not.toMatch(/client-|jwt:|DE\d{20}/);
  });

  it('sum the budgets of callers with tokens beyond the first hundred', async () => {
    const { read } = tMetrics(300);
    const { value, text } = await read();
    expect(text.match(/^ledgerquill_budget_remaining\{/gm)).toHaveLength(1 + 100 + 1);
    const others = ['limit', 'used', 'remaining'].map((name) =>
      value(`ledgerquill_budget_${name}`, { caller: 'other' }),
    );
    expect(others).toEqual([600, 400, 200]);
  });

  it('show the end of the last valid day of each bank list that has one', async () => {
    const { text, value } = await tMetrics(0).read();
    const name = 'ledgerquill_bank_list_valid_until_timestamp_seconds';
    expect(value(name, { country: 'DE' })).toBe(Date.parse('2026-12-07') / 1_000);
    expect(text.match(new RegExp(`^${name}\\{`, 'gm'))).toHaveLength(1);
  });

  it('escape the values of labels', () => {
    const samples = [{ labels: { code: 'a"b\\c\nd' }, value: 1 }];
    const text = formatMetrics({ ledgerquill_graphql_errors_total: samples });
    expect(text.split('\n')).toContain(String.raw`ledgerquill_graphql_errors_total{code="a\"b\\c\nd"} 1`);
  });

  it('count durations up to and including each bound', () => {
    const histogram = new Histogram([0.1, 1]);
    for (const seconds of [0.1, 0.5, 1, 2]) histogram.observe(seconds);
    const buckets = { boundaries: [0.1, 1], counts: [1, 2, 1] };
    expect(histogram.collect()).toEqual([{ value: { buckets, sum: 3.6, count: 4 } }]);
  });
});

const graphqlReply = { ...createRecord(null), operationType: 'query' } as const;

const tIbanText = (number: number) => `DE${String(number).padStart(20, '0')}`;

/** Connections to this origin, closed when the test ends. */
function tSockets(origin: string, length: number) {
  return Array.from({ length }, () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    return socket;
  });
}

/** Metrics without a gateway. @param tokens callers with tokens that have a budget */
function tMetrics(tokens = 0) {
  const metrics = createMetrics();
  const service = 'bank-data' as const;
  const budgets = [
    { caller: 'api-key:shop', service, limit: 6, used: 1, remaining: 5 },
    ...Array.from({ length: tokens }, (_, index) => ({
      caller: `jwt:${index}`,
      service,
      limit: 3,
      used: 2,
      remaining: 1,
    })),
  ];
  const noBulkhead = { active: 0, queued: 0 };
  const noCache = { entries: 0, bytes: 0 };
  const exposition = createExposition(metrics, {
    activeRequests: () => 0,
    bulkheads: () => ({ 'bank-data': noBulkhead, essays: noBulkhead }),
    essayOrders: () => ({ waiting: 0, running: 0, oldestMs: 0 }),
    lookUps: () => ({ ...noCache, waiting: 0 }),
    caches: () => ({ replies: noCache, documents: noCache }),
    allowances: async () => [],
    budgets: () => budgets,
    isStoreUp: () => true,
    storeRisks: () => [],
    isIssuerUp: () => true,
    freeBytes: async () => 1,
    bankLists: () => [
      { country: 'DE', validUntil: '2026-12-06' },
      { country: 'AT', validUntil: null },
    ],
    droppedLogLines: () => 0,
    unwrittenAuditLines: () => 0,
    configHash: async () => '0a1b2c3d',
    revision: '1a2b3c4',
  });
  onTestFinished(exposition.close);
  return {
    metrics,
    finish(request: Partial<typeof succeeded>, count: number) {
      for (let index = 0; index < count; index += 1) metrics.events.requestFinished?.({ ...succeeded, ...request });
    },
    read: async () => readMetrics(formatMetrics(await exposition.collect())),
  };
}
