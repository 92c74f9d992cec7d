import { describe, expect, it } from 'vitest';
import { sha256 } from '../support/auth/identify.ts';
import { tIban } from '../support/e2e/iban.ts';
import { type LogLine, type ObservedGateway, tObservedGateway } from '../support/e2e/observed-gateway.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../support/scripted-upstream.ts';
import { tCollector } from '../support/telemetry/otlp-collector.ts';
import type { Scraped } from '../support/telemetry/scrape.ts';

/*
 * A day of two gateways, which are processes that share a Redis: every event is seen in metrics and log at once, and in the
 * spans that are sent at the end, as docs/metrics.md and docs/operations.md say. The clock of the processes is set forward,
 * so that the minute in which the upstream fails takes no minute.
 */

const keys = {
  bankData: 'seeded-bank-data-key',
  essays: 'seeded-essays-key',
  store: 'seeded-secret-of-the-store',
  shop: 'lq_seeded-key-of-the-shop',
};
const essayText = 'A pen leaves a thought where others find it.';
const topic = 'Seeded pens';
const bankDataAllowance = 40;
const path = '/bank_data/iban_validate';

/** Every IBAN is valid, and every order is an essay. */
const replyWell: Reply = (response, call) => {
  const iban = call.query.get('iban_number');
  return replyJson(200, iban === null ? { essay: essayText } : { valid: true, iban })(response, call);
};

async function tDay() {
  const redis = await tRedis({ isDurable: true });
  const upstream = await tUpstream(replyWell);
  const collector = await tCollector();
  const start = () =>
    tObservedGateway({
      REDIS_URL: redis.url,
      REPLICAS: '2',
      STORE_SECRET: keys.store,
      BANK_DATA_URL: upstream.url,
      BANK_DATA_API_KEY: keys.bankData,
      ESSAY_URL: upstream.url,
      ESSAY_API_KEY: keys.essays,
      GATEWAY_API_KEYS: `shop:${sha256(keys.shop)}:bank-data+essays`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      BANK_DATA_FRESH_S: '40',
      BANK_DATA_MONTHLY_ALLOWANCE: String(bankDataAllowance),
      ESSAY_MONTHLY_ALLOWANCE: '10',
      UPSTREAM_RETRY_BACKOFF_MS: '1',
      // Ended by a second signal.
      SHUTDOWN_DELAY_MS: '600000',
    });
  return { redis, upstream, collector, start, gateway: await start() };
}

type Day = Awaited<ReturnType<typeof tDay>>;

const shop = { authorization: `Bearer ${keys.shop}`, 'apollographql-client-name': 'web' };

async function send(
  { url }: { url: string },
  requestId: string,
  body: { query: string; variables?: object },
  credentials: Record<string, string> = shop,
) {
  const headers = { 'content-type': 'application/json', 'x-request-id': requestId, ...credentials };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { data = null, errors = [] } = (await response.json()) as {
    data?: Record<string, unknown>;
    errors?: { extensions: { code: string } }[];
  };
  return { status: response.status, data, codes: [...new Set(errors.map(({ extensions }) => extensions.code))] };
}

/** Each on a connection of its own, as probes are. */
async function readiness({ url }: { url: string }): Promise<unknown[]> {
  const response = await fetch(`${url}/ready`, { headers: { connection: 'close' } });
  return [response.status, await response.json()];
}

const validate = (...ibans: string[]) => ({
  query: 'query Check($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }',
  variables: { ibans },
});
const order = (idempotencyKey?: string) => ({
  query: `mutation Order($input: GenerateEssayInput!) {
    generateEssay(input: $input) { __typename ... on Essay { id text } ... on EssayServiceFailed { code } } }`,
  variables: { input: { description: topic, wordCount: 100, idempotencyKey } },
});

const succeeded = { status: 200, codes: [] };

const circuit = ({ value }: Scraped) =>
  ['closed', 'open', 'half_open'].find((state) =>
    value('ledgerquill_circuit_breaker_state', { service: 'bank-data', endpoint: path, state }),
  );
const circuitChanges = ({ value }: Scraped) =>
  ['open', 'half_open', 'closed'].map(
    (state) =>
      value('ledgerquill_circuit_breaker_transitions_total', { service: 'bank-data', endpoint: path, state }) ?? 0,
  );
const lookUps = ({ value }: Scraped) =>
  ['hit', 'stale', 'miss'].map((result) => value('ledgerquill_cache_look_ups_total', { result }));
const operations = ({ value }: Scraped) =>
  ['answered', 'failed', 'shed', 'exhausted'].map((outcome) =>
    value('ledgerquill_upstream_operations_total', { service: 'bank-data', outcome }),
  );
const essays = ({ value }: Scraped) =>
  ['generated', 'from_key', 'failed'].map((outcome) => value('ledgerquill_essays_total', { outcome }));
const errors = ({ value }: Scraped, code: string) => value('ledgerquill_graphql_errors_total', { code });
const remaining = ({ value }: Scraped, service: string) => value('ledgerquill_allowance_remaining', { service });

/** The lines that are not of requests. */
const eventsOf = (lines: readonly LogLine[]) => lines.filter(({ msg }) => msg !== 'request');
const lineOf = (lines: readonly LogLine[], id: string) => lines.find(({ requestId }) => requestId === id);

/** A call, the same from the cache, two requests that share a call, an essay, the same again, and what costs nothing. */
async function traffic({ gateway, upstream }: Day): Promise<void> {
  expect(await send(gateway, 'call', validate(tIban(1)))).toMatchObject(succeeded);
  expect(await send(gateway, 'hit', validate(tIban(1)))).toMatchObject(succeeded);
  const { reply, release } = replyHeld(replyWell);
  upstream.answers(reply);
  const called = upstream.nextCall();
  const first = send(gateway, 'first', validate(tIban(2)));
  await called;
  const joined = send(gateway, 'joined', validate(tIban(2)));
  await gateway.scrapeUntil(({ value }) => value('ledgerquill_joined_flights_total') === 1);
  release();
  await Promise.all([first, joined]);
  upstream.answers(replyWell);
  const invalid = await send(gateway, 'invalid', validate(tIban(1).replace('DE', 'FR')));
  expect(invalid.data).toEqual({ ibanValidations: [{ valid: false }] });
  const refused = await send(gateway, 'refused', validate(tIban(1)), {});
  expect(refused).toEqual({ status: 401, data: null, codes: ['UNAUTHENTICATED'] });
  // A client that writes an IBAN where it does not belong.
  await send(gateway, tIban(1), { query: `query ${tIban(1)} { __typename }` });
  await send(gateway, 'essay', order('form-1'));
  await send(gateway, 'same-essay', order('form-1'));

  const scraped = await gateway.scrape();
  expect(lookUps(scraped)).toEqual([1, 0, 3]);
  expect(operations(scraped)).toEqual([2, 0, 0, 0]);
  expect(essays(scraped)).toEqual([1, 1, 0]);
  expect(scraped.value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(2);
  const saved = ['cache', 'flight', 'idempotency_key', 'kept_reply'];
  expect(saved.map((by) => scraped.value('ledgerquill_saved_calls_total', { by }))).toEqual([1, 1, 1, 0]);
  expect(scraped.value('ledgerquill_refusals_total', { limit: 'unauthenticated' })).toBe(1);
  expect(errors(scraped, 'UNAUTHENTICATED')).toBe(1);
  expect([remaining(scraped, 'bank-data'), remaining(scraped, 'essays')]).toEqual([bankDataAllowance - 2, 9]);
  expect([circuit(scraped), scraped.value('ledgerquill_store_up')]).toEqual(['closed', 1]);
  const ok = { http_route: '/graphql', http_response_status_code: '200' };
  expect(scraped.value('http_server_request_duration_seconds_count', ok)).toBe(8);

  const log = await gateway.logUntil('same-essay');
  expect(eventsOf(log)).toMatchObject([{ level: 30, msg: 'the shared store is up' }]);
  const check = {
    status: 200,
    operationType: 'query',
    operationName: 'Check',
    caller: 'api-key:shop',
    clientName: 'web',
  };
  expect(lineOf(log, 'call')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0, upstreamCalls: 1 });
  expect(lineOf(log, 'hit')).toMatchObject({ ...check, lookUps: 1, cacheHits: 1, upstreamCalls: 0 });
  expect(lineOf(log, 'first')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0 });
  expect(lineOf(log, 'joined')).toMatchObject({ ...check, lookUps: 1, cacheHits: 0 });
  expect(lineOf(log, 'invalid')).toMatchObject({ ...check, lookUps: 0, upstreamCalls: 0 });
  expect(lineOf(log, 'refused')).toMatchObject({ status: 401, errors: ['UNAUTHENTICATED'] });
  expect(lineOf(log, '[IBAN]')).toMatchObject({ status: 200, operationName: '[IBAN]' });
  expect(lineOf(log, 'essay')).toMatchObject({ operationType: 'mutation', operationName: 'Order', upstreamCalls: 1 });
  expect(lineOf(log, 'same-essay')).toMatchObject({ operationType: 'mutation', upstreamCalls: 0 });
}

/** For a minute. What is cached is served stale; all else fails, soon without a call. One probe finds that it works again. */
async function upstreamFails({ gateway, upstream }: Day): Promise<void> {
  await gateway.advanceClock();
  await gateway.advanceClock();
  upstream.answers(replyJson(500, {}));
  const calls = upstream.calls.length;
  expect(await send(gateway, 'stale', validate(tIban(1)))).toMatchObject(succeeded);
  const stale = await gateway.scrapeUntil((scraped) => operations(scraped)[1] === 1);
  expect(lookUps(stale)).toEqual([1, 1, 3]);

  const codes: string[] = [];
  while (!codes.includes('UPSTREAM_UNAVAILABLE')) {
    codes.push(...(await send(gateway, `fails-${codes.length}`, validate(tIban(10 + codes.length)))).codes);
  }
  expect(codes[0]).toBe('UPSTREAM_FAILED');
  expect((await send(gateway, 'shed', validate(tIban(19)))).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  const open = await gateway.scrape();
  expect([circuit(open), circuitChanges(open)]).toEqual(['open', [1, 0, 0]]);
  expect(operations(open)).toEqual([2, codes.length, 2, 0]);
  expect(errors(open, 'UPSTREAM_FAILED')).toBe(codes.length - 1);
  expect(errors(open, 'UPSTREAM_UNAVAILABLE')).toBe(2);
  const of500 = { service: 'bank-data', http_response_status_code: '500', error_type: '500' };
  expect(open.value('http_client_request_duration_seconds_count', of500)).toBe(upstream.calls.length - calls);

  await gateway.advanceClock();
  await send(gateway, 'probe', validate(tIban(20)));
  const probed = await gateway.scrape();
  expect([circuit(probed), circuitChanges(probed)]).toEqual(['open', [2, 1, 0]]);
  const failures = { service: 'bank-data', outcome: 'failed' };
  expect(probed.value('ledgerquill_upstream_attempts_total', failures)).toBe(upstream.calls.length - calls);

  const log = await gateway.logUntil('probe');
  const breakerOpened = 'circuit breaker opened: the upstream keeps failing, only probes are sent';
  const place = { level: 40, service: 'bank-data', path };
  expect(eventsOf(log)).toMatchObject([
    { ...place, msg: 'upstream call failed', status: 500 },
    { ...place, msg: breakerOpened },
    { ...place, msg: breakerOpened },
  ]);
  expect(lineOf(log, 'stale')).toMatchObject({ status: 200, cacheHits: 1, staleHits: 1 });
  expect(lineOf(log, 'fails-0')).toMatchObject({ status: 200, errors: ['UPSTREAM_FAILED'], upstreamCalls: 3 });
  expect(lineOf(log, 'shed')).toMatchObject({ status: 200, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 0 });

  await gateway.advanceClock();
  const { reply, release } = replyHeld(replyWell);
  upstream.answers(reply);
  const recovered = send(gateway, 'recovered', validate(tIban(21)));
  await gateway.scrapeUntil((scraped) => circuit(scraped) === 'half_open');
  release();
  expect(await recovered).toMatchObject(succeeded);
  upstream.answers(replyWell);
  const closed = await gateway.scrape();
  expect([circuit(closed), circuitChanges(closed)]).toEqual(['closed', [2, 2, 1]]);
  expect(eventsOf(await gateway.logUntil('recovered'))).toMatchObject([
    { level: 30, msg: 'circuit breaker closed: the upstream works again', service: 'bank-data', path },
  ]);
}

/** New look-ups fail, cached ones do not. */
async function allowanceRunsOut({ gateway }: Day): Promise<void> {
  const ibans = Array.from({ length: bankDataAllowance }, (_, index) => tIban(100 + index));
  expect((await send(gateway, 'exhausted', validate(...ibans))).codes).toEqual(['UPSTREAM_ALLOWANCE_EXHAUSTED']);
  expect(await send(gateway, 'still-cached', validate(tIban(21)))).toMatchObject(succeeded);

  const scraped = await gateway.scrape();
  expect(remaining(scraped, 'bank-data')).toBe(0);
  expect(scraped.value('ledgerquill_allowance_limit', { service: 'bank-data' })).toBe(bankDataAllowance);
  expect(scraped.value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(bankDataAllowance);
  expect(operations(scraped)[3]).toBeGreaterThan(0);
  expect(errors(scraped, 'UPSTREAM_ALLOWANCE_EXHAUSTED')).toBe(1);

  const log = await gateway.logUntil('still-cached');
  const warning = { level: 40, msg: 'the monthly allowance is nearly exhausted', service: 'bank-data' };
  expect(eventsOf(log)).toMatchObject([80, 95].map((percent) => ({ ...warning, percent })));
  const line = { status: 200, errors: ['UPSTREAM_ALLOWANCE_EXHAUSTED'], lookUps: bankDataAllowance };
  expect(lineOf(log, 'exhausted')).toMatchObject(line);
}

/** Look-ups are answered from memory, orders with a key are rejected, and other essays are buffered. */
async function redisStopsAndReturns({ gateway, redis }: Day): Promise<{ bufferedId: string }> {
  expect(await readiness(gateway)).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
  await redis.stop();
  await gateway.scrapeUntil(({ value }) => value('ledgerquill_store_up') === 0);
  expect(await readiness(gateway)).toEqual([200, { status: 'ready', sharedStore: 'down' }]);
  // Reads the allowances of both services, which fails.
  await gateway.scrape();
  expect(await send(gateway, 'down-cached', validate(tIban(21)))).toMatchObject(succeeded);
  const { data: rejected } = await send(gateway, 'down-rejected', order('form-2'));
  expect(rejected).toEqual({ generateEssay: { __typename: 'EssayServiceFailed', code: 'UPSTREAM_UNAVAILABLE' } });
  const { data: buffered } = await send(gateway, 'down-buffered', order());
  expect(buffered).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
  expect(essays(await gateway.scrape())).toEqual([2, 1, 1]);

  const log = await gateway.logUntil('down-buffered');
  expect(lineOf(log, 'down-cached')).toMatchObject({ status: 200, cacheHits: 1, upstreamCalls: 0 });
  expect(lineOf(log, 'down-rejected')).toMatchObject({ status: 200, upstreamCalls: 0 });
  const inMemory = 'the store failed: calls are counted in memory until it works again';
  expect(
    eventsOf(log)
      .map(({ level, msg, service = '' }) => `${level} ${msg} ${service}`.trim())
      .toSorted(),
  ).toEqual(
    [
      `50 ${inMemory} bank-data`,
      `50 ${inMemory} essays`,
      '50 the shared store is down: the gateway continues without it',
      '50 the store failed: an essay order with an idempotency key was rejected, as it might be paid for twice',
      '50 the store failed: essays are buffered in memory until it works again',
    ].toSorted(),
  );

  await redis.restart();
  const isCounted = (scraped: Scraped) => remaining(scraped, 'bank-data') === 0 && remaining(scraped, 'essays') === 8;
  const up = await gateway.scrapeUntil((scraped) => scraped.value('ledgerquill_store_up') === 1 && isCounted(scraped));
  expect(up.value('ledgerquill_store_up')).toBe(1);
  expect(await readiness(gateway)).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
  await send(gateway, 'up-again', validate(tIban(21)));
  expect(eventsOf(await gateway.logUntil('up-again'))).toMatchObject([{ level: 30, msg: 'the shared store is up' }]);
  return { bufferedId: (buffered as { generateEssay: { id: string } }).generateEssay.id };
}

/** The first gateway stops while an order is active. A load balancer asks /ready before each request. */
async function rollout({ gateway, upstream, start }: Day, { bufferedId }: { bufferedId: string }) {
  const second = await start();
  const { reply, release } = replyHeld(replyWell);
  upstream.answers(reply);
  const ordered = upstream.nextCall();
  const active = send(gateway, 'active', order('form-3'));
  await ordered;

  const isReady = () =>
    readiness(gateway).then(
      ([status]) => status === 200,
      () => false,
    );
  const balance = async (id: string) => send((await isReady()) ? gateway : second, id, validate(tIban(21)));
  gateway.process.kill('SIGTERM');
  for (let count = 0; await isReady(); count += 1) {
    expect(await balance(`before-${count}`)).toMatchObject(succeeded);
  }
  expect(await readiness(gateway)).toEqual([503, { status: 'stopping', sharedStore: 'up' }]);
  expect(await send(gateway, 'late', validate(tIban(21)))).toMatchObject(succeeded);
  expect(await balance('moved')).toMatchObject(succeeded);
  const stopping = await gateway.scrape();
  expect(stopping.value('http_server_active_requests')).toBe(1);
  expect(stopping.value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(bankDataAllowance);

  await endDelay(gateway);
  expect(await balance('moved-again')).toMatchObject(succeeded);
  release();
  const { data } = await active;
  expect(data).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
  expect(await gateway.process.ended).toEqual({ code: 0, signal: null });
  const log = gateway.log();
  expect(lineOf(log, 'late')).toMatchObject({ status: 200 });
  expect(log.at(-1)).toMatchObject({ msg: 'request', requestId: 'active', status: 200, upstreamCalls: 1 });
  expect(eventsOf(log).at(-1)).toMatchObject({ level: 30, msg: 'stopping: active requests are finished first' });

  // The second gateway has all that the first one knew.
  expect((await send(second, 'same-key', order('form-3'))).data).toEqual(data);
  const query = { query: 'query Find($id: ID!) { essay(id: $id) { text } }', variables: { id: bufferedId } };
  expect((await send(second, 'find', query)).data).toEqual({ essay: { text: essayText } });
  expect(await send(second, 'exhausted-too', validate(tIban(30)))).toMatchObject({
    codes: ['UPSTREAM_ALLOWANCE_EXHAUSTED'],
  });
  const scraped = await second.scrape();
  expect(essays(scraped)).toEqual([0, 1, 0]);
  expect([remaining(scraped, 'bank-data'), remaining(scraped, 'essays')]).toEqual([0, 7]);
  await endDelay(second);
  expect(await second.process.ended).toEqual({ code: 0, signal: null });
  return second;
}

/** Sends signals until connections are refused: the first announces the stop, and a later one ends the delay. */
async function endDelay(gateway: ObservedGateway): Promise<void> {
  const isListening = () =>
    readiness(gateway).then(
      () => true,
      () => false,
    );
  do gateway.process.kill('SIGTERM');
  while (await isListening());
}

/** One span per line of a request, with the same values, and one per call that the upstream has received. */
function expectSpans({ collector: { spans }, upstream, gateway }: Day, second: ObservedGateway): void {
  const servers = spans.filter(({ kind }) => kind === 'server');
  const clients = spans.filter(({ kind }) => kind === 'client');
  const lines = [...gateway.log(), ...second.log()].filter(({ msg }) => msg === 'request');
  const ofSpans = servers.map(({ traceId, name, isError, attributes }) => ({
    traceId,
    name,
    isError,
    requestId: attributes['ledgerquill.request.id'],
    status: attributes['http.response.status_code'],
    operationName: attributes['graphql.operation.name'],
    errors: attributes['ledgerquill.error.codes'],
    lookUps: attributes['ledgerquill.look_ups'],
    cacheHits: attributes['ledgerquill.cache_hits'],
    upstreamCalls: attributes['ledgerquill.upstream_calls'],
  }));
  const ofLines = lines.map((line) => ({
    traceId: String(line.traceId),
    name: line.operationType ?? 'GraphQL Operation',
    isError: /UPSTREAM_/.test(String(line.errors)),
    requestId: line.requestId,
    status: line.status,
    operationName: line.operationName,
    errors: line.errors,
    lookUps: line.lookUps,
    cacheHits: line.cacheHits,
    upstreamCalls: line.upstreamCalls,
  }));
  const byTrace = (one: { traceId: string }, other: { traceId: string }) => one.traceId.localeCompare(other.traceId);
  expect(ofSpans.toSorted(byTrace)).toEqual(ofLines.toSorted(byTrace));
  expect(new Set(servers.map(({ resource }) => resource['service.instance.id'])).size).toBe(2);

  /** The spans of calls in the trace of a request, by their status. */
  const callsOf = (id: string) => {
    const { traceId } = servers.find(({ attributes }) => attributes['ledgerquill.request.id'] === id) ?? {};
    return clients
      .filter((client) => client.traceId === traceId)
      .map(({ attributes }) => attributes['http.response.status_code']);
  };
  expect(clients).toHaveLength(upstream.calls.length);
  expect([callsOf('call'), callsOf('hit'), callsOf('first'), callsOf('joined')]).toEqual([[200], [], [200], []]);
  expect([callsOf('stale'), callsOf('fails-0'), callsOf('shed')]).toEqual([[500, 500, 500], [500, 500, 500], []]);
  expect([callsOf('probe'), callsOf('recovered'), callsOf('active')]).toEqual([[500], [200], [200]]);
  expect([callsOf('down-cached'), callsOf('down-rejected'), callsOf('down-buffered')]).toEqual([[], [], [200]]);
}

/** Neither keys nor personal data are seen; names of callers and addresses of upstreams, only where it is documented. */
function expectNoCanaries({ collector, upstream, gateway }: Day, second: ObservedGateway): void {
  const spans = collector.requests.map(({ text }) => text).join('\n');
  const logs = gateway.process.stderr() + second.process.stderr();
  const metrics = gateway.scraped() + second.scraped();
  const printed = gateway.process.stdout() + second.process.stdout();
  expect([spans, logs, metrics, printed].every((text) => text.length > 500)).toBe(true);
  for (const text of [spans, logs, metrics, printed]) {
    for (const canary of [...Object.values(keys), sha256(keys.shop), essayText, topic])
      expect(text).not.toContain(canary);
    expect(text).not.toMatch(/[A-Z]{2}\d{20}/);
  }
  for (const text of [spans, logs, metrics]) expect(text).not.toContain(new URL(upstream.url).host);
  expect(spans).not.toContain('api-key:shop');
}

describe.skipIf(whyNoRedis)(`a day of two gateways${whyNoRedis}`, () => {
  it('is seen in metrics, log and spans, without secrets and IBANs', async () => {
    const day = await tDay();
    await traffic(day);
    await upstreamFails(day);
    await allowanceRunsOut(day);
    const second = await rollout(day, await redisStopsAndReturns(day));
    expectSpans(day, second);
    expectNoCanaries(day, second);
  });
});
