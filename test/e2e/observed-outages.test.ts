import { describe, expect, it, vi } from 'vitest';
import { sha256 } from '../support/gateway/callers.ts';
import { type Collector, tCollector } from '../support/gateway/telemetry/otlp-collector.ts';
import { type Scraped, scrape } from '../support/gateway/telemetry/scrape.ts';
import { bankDataKey, essaysKey, tGateway } from '../support/gateway.ts';
import { tIban } from '../support/ibans.ts';
import { tRedis, whyNoRedis } from '../support/redis.ts';
import { type Reply, replyHeld, replyJson, tUpstream, type Upstream } from '../support/scripted-upstream.ts';

/* What metrics, log, spans and /ready say while an upstream fails, or Redis. */

it('a failing upstream is seen: stale answers, failures, few calls, and one probe that finds that it works', async () => {
  const observed = await tObserved({ BANK_DATA_FRESH_S: '40' });
  const { upstream } = observed;
  const gateway = await observed.start();
  const { send } = gateway;
  await send('first', validate(tIban(1)));
  gateway.advanceClock();
  gateway.advanceClock();
  upstream.answers(replyJson(500, {}));
  expect(await send('stale', validate(tIban(1)))).toMatchObject(succeeded);
  const stale = await gateway.scrapeUntil((scraped) => operations(scraped)[1] === 1);
  expect(lookUps(stale)).toEqual([0, 1, 1]);

  const codes: string[] = [];
  while (!codes.includes('UPSTREAM_UNAVAILABLE')) {
    codes.push(...(await send(`fails-${codes.length}`, validate(tIban(10 + codes.length)))).codes);
  }
  expect(codes[0]).toBe('UPSTREAM_FAILED');
  expect((await send('shed', validate(tIban(19)))).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  const open = await gateway.scrape();
  expect([circuit(open), circuitChanges(open)]).toEqual(['open', [1, 0, 0]]);
  expect(operations(open)).toEqual([1, codes.length, 2, 0]);
  expect(errors(open, 'UPSTREAM_FAILED')).toBe(codes.length - 1);
  expect(errors(open, 'UPSTREAM_UNAVAILABLE')).toBe(2);
  const of500 = { service: 'bank-data', http_response_status_code: '500', error_type: '500' };
  expect(open.value('http_client_request_duration_seconds_count', of500)).toBe(upstream.calls.length - 1);

  gateway.advanceClock();
  await send('probe', validate(tIban(20)));
  const probed = await gateway.scrape();
  expect([circuit(probed), circuitChanges(probed)]).toEqual(['open', [2, 1, 0]]);
  const failures = { service: 'bank-data', outcome: 'failed' };
  expect(probed.value('ledgerquill_upstream_attempts_total', failures)).toBe(upstream.calls.length - 1);

  const log = await gateway.logUntil('probe');
  const place = { level: 40, service: 'bank-data', path };
  expect(eventsOf(log)).toMatchObject([
    { ...place, msg: 'upstream call failed', status: 500 },
    { ...place, msg: 'circuit breaker opened: only probes are sent until one succeeds', cause: 'failure' },
  ]);
  expect(lineOf(log, 'stale')).toMatchObject({ status: 200, cacheHits: 1, staleHits: 1 });
  expect(lineOf(log, 'fails-0')).toMatchObject({ status: 200, errors: ['UPSTREAM_FAILED'], upstreamCalls: 3 });
  expect(lineOf(log, 'shed')).toMatchObject({ status: 200, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 0 });

  gateway.advanceClock();
  const { reply, release } = replyHeld(replyWell);
  upstream.answers(reply);
  const recovered = send('recovered', validate(tIban(21)));
  await gateway.scrapeUntil((scraped) => circuit(scraped) === 'half_open');
  release();
  expect(await recovered).toMatchObject(succeeded);
  const closed = await gateway.scrape();
  expect([circuit(closed), circuitChanges(closed)]).toEqual(['closed', [2, 2, 1]]);
  expect(eventsOf(await gateway.logUntil('recovered'))).toMatchObject([
    { level: 30, msg: 'circuit breaker closed: the upstream works again', service: 'bank-data', path },
  ]);
  const calls = await observed.end('stale', 'fails-0', 'shed', 'probe', 'recovered');
  expect(calls).toEqual([[500, 500, 500], [500, 500, 500], [], [500], [200]]);
});

it('an exhausted allowance is seen: new look-ups fail, cached ones do not', async () => {
  const allowance = 20;
  const observed = await tObserved({ BANK_DATA_MONTHLY_ALLOWANCE: String(allowance) });
  const gateway = await observed.start();
  await gateway.send('cached', validate(tIban(1)));
  const ibans = Array.from({ length: allowance }, (_, index) => tIban(100 + index));
  const { codes } = await gateway.send('exhausted', validate(...ibans));
  expect(codes).toEqual(['UPSTREAM_ALLOWANCE_EXHAUSTED']);
  expect(await gateway.send('still-cached', validate(tIban(1)))).toMatchObject(succeeded);

  const scraped = await gateway.scrape();
  expect(remaining(scraped)[0]).toBe(0);
  expect(scraped.value('ledgerquill_allowance_limit', { service: 'bank-data' })).toBe(allowance);
  expect(paidCalls(scraped)).toBe(allowance);
  expect(operations(scraped)[3]).toBeGreaterThan(0);
  expect(errors(scraped, 'UPSTREAM_ALLOWANCE_EXHAUSTED')).toBe(1);

  const log = await gateway.logUntil('still-cached');
  const warning = { level: 40, msg: 'the monthly allowance is nearly exhausted', service: 'bank-data' };
  expect(eventsOf(log)).toMatchObject([
    ...[80, 95].map((percent) => ({ ...warning, percent })),
    { ...warning, msg: 'the monthly allowance is exhausted', percent: 100 },
  ]);
  const line = { status: 200, errors: ['UPSTREAM_ALLOWANCE_EXHAUSTED'], lookUps: allowance };
  expect(lineOf(log, 'exhausted')).toMatchObject(line);
  await observed.end();
});

describe.skipIf(whyNoRedis)(`two gateways with a Redis${whyNoRedis}`, () => {
  async function tObservedPair() {
    const redis = await tRedis({ isDurable: true });
    const env = {
      REDIS_URL: redis.url,
      REPLICAS: '2',
      BANK_DATA_MONTHLY_ALLOWANCE: '4',
      ESSAY_MONTHLY_ALLOWANCE: '10',
    };
    return { redis, observed: await tObserved(env) };
  }

  it('show that it stops: look-ups are cached, orders with a key rejected, other essays buffered; and returns', async () => {
    const { redis, observed } = await tObservedPair();
    const gateway = await observed.start();
    const { send } = gateway;
    await send('cached', validate(tIban(21)));
    expect(eventsOf(await gateway.logUntil('cached'))).toMatchObject([{ level: 30, msg: 'the store is up' }]);
    expect((await gateway.scrape()).value('ledgerquill_store_up')).toBe(1);
    expect(await gateway.readiness()).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
    await redis.stop();
    await gateway.scrapeUntil(({ value }) => value('ledgerquill_store_up') === 0);
    expect(await gateway.readiness()).toEqual([
      200,
      { status: 'ready', sharedStore: 'down', storeFailure: 'unreachable' },
    ]);
    // Reads the allowances of both services, which fails.
    await gateway.scrape();
    expect(await send('down-cached', validate(tIban(21)))).toMatchObject(succeeded);
    expect(await send('down-new', validate(tIban(22)))).toMatchObject(succeeded);
    const { data: rejected } = await send('down-rejected', order('form-2'));
    expect(rejected).toEqual({ generateEssay: { __typename: 'EssayServiceFailed', code: 'UPSTREAM_UNAVAILABLE' } });
    const { data: buffered } = await send('down-buffered', order());
    expect(buffered).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
    expect(essays(await gateway.scrape())).toEqual([1, 0, 1]);

    const log = await gateway.logUntil('down-buffered');
    expect(lineOf(log, 'down-cached')).toMatchObject({ status: 200, cacheHits: 1, upstreamCalls: 0 });
    expect(lineOf(log, 'down-rejected')).toMatchObject({ status: 200, upstreamCalls: 0 });
    const inMemory = '50 the store failed: calls are counted in memory until it works again';
    const events = eventsOf(log).map(({ level, msg, service = '' }) => `${level} ${msg} ${service}`.trim());
    expect(gateway.logText()).not.toContain(new URL(redis.url).host);
    expect(events.toSorted()).toEqual([
      '50 the store failed: an essay order with an idempotency key was rejected, as it might be paid for twice',
      `${inMemory} bank-data`,
      `${inMemory} essays`,
      '50 the store failed: essays are buffered in memory until it works again',
      '50 the store is down: the gateway continues without it',
    ]);

    await redis.restart();
    const isBack = (scraped: Scraped) =>
      scraped.value('ledgerquill_store_up') === 1 && remaining(scraped).join() === '2,9';
    await gateway.scrapeUntil(isBack);
    expect(await gateway.readiness()).toEqual([200, { status: 'ready', sharedStore: 'up' }]);
    await send('up-again', validate(tIban(21)));
    expect(eventsOf(await gateway.logUntil('up-again'))).toMatchObject([{ level: 30, msg: 'the store is up' }]);

    // Another gateway finds the essay that was buffered, and the answers that the first received.
    const second = await observed.start();
    expect(await second.send('shared', validate(tIban(21)))).toMatchObject(succeeded);
    const { id } = (buffered as { generateEssay: { id: string } }).generateEssay;
    const query = { query: 'query Find($id: ID!) { essay(id: $id) { text } }', variables: { id } };
    expect((await second.send('find', query)).data).toEqual({ essay: { text: essayText } });
    const calls = await observed.end('down-cached', 'down-new', 'down-rejected', 'down-buffered', 'shared');
    expect(calls).toEqual([[], [200], [], [200], []]);
  });

  it('show a rollout: the first stops while an order is active, and the second has all that it knew', async () => {
    const { observed } = await tObservedPair();
    const { upstream } = observed;
    const gateway = await observed.start();
    await gateway.send('all', validate(tIban(21), tIban(22), tIban(23), tIban(24)));
    const second = await observed.start();
    const { reply, release } = replyHeld(replyWell);
    upstream.answers(reply);
    const ordered = upstream.nextCall();
    const active = gateway.send('active', order('form-3'));
    await ordered;

    // A load balancer asks /ready before each request.
    const isReady = () => gateway.readiness().then(([status]) => status === 200);
    const balance = async (id: string) =>
      ((await isReady().catch(() => false)) ? gateway : second).send(id, validate(tIban(21)));
    gateway.announceStop();
    expect(await gateway.readiness()).toEqual([503, { status: 'stopping', sharedStore: 'up' }]);
    expect(await gateway.send('late', validate(tIban(21)))).toMatchObject(succeeded);
    expect(await balance('moved')).toMatchObject(succeeded);
    const stopping = await gateway.scrape();
    expect(stopping.value('http_server_active_requests')).toBe(1);
    expect(stopping.value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(4);

    await gateway.endDelay();
    expect(await balance('moved-again')).toMatchObject(succeeded);
    release();
    const { data } = await active;
    expect(data).toMatchObject({ generateEssay: { __typename: 'Essay', text: essayText } });
    await gateway.stop();
    const log = gateway.log();
    expect(lineOf(log, 'late')).toMatchObject({ status: 200 });
    expect(log.at(-1)).toMatchObject({ msg: 'request', requestId: 'active', status: 200, upstreamCalls: 1 });

    expect((await second.send('same-key', order('form-3'))).data).toEqual(data);
    const { codes } = await second.send('exhausted-too', validate(tIban(30)));
    expect(codes).toEqual(['UPSTREAM_ALLOWANCE_EXHAUSTED']);
    const scraped = await second.scrape();
    expect(essays(scraped)).toEqual([0, 1, 0]);
    expect(remaining(scraped)).toEqual([0, 9]);
    expect(await observed.end('active', 'same-key')).toEqual([[200], []]);
  });
});

/* A gateway in production, with all that an operator can see of it: metrics, log and spans. */

type LogLine = Record<string, unknown> & { msg: string; level: number };

const keys = {
  bankData: bankDataKey,
  essays: essaysKey,
  store: 'seeded-secret-of-the-store',
  shop: 'lq_seeded-key-of-the-shop',
};
const essayText = 'A pen leaves a thought where others find it. '.repeat(5).trim();
const topic = 'Seeded pens';

/** Every IBAN is valid, and every order is an essay. */
const replyWell: Reply = (response, call) => {
  const iban = call.query.get('iban_number');
  return replyJson(200, iban === null ? { essay: essayText } : { valid: true, iban })(response, call);
};

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

const shop = { authorization: `Bearer ${keys.shop}`, 'apollographql-client-name': 'web' };

/** Starts gateways with an upstream that replies well, and a collector of their spans. */
async function tObserved(env: Record<string, string> = {}) {
  const upstream = await tUpstream(replyWell);
  const collector = await tCollector();
  const gateways: ObservedGateway[] = [];
  return {
    upstream,
    async start() {
      const gateway = await tObservedGateway(upstream, {
        STORE_SECRET: keys.store,
        GATEWAY_API_KEYS: `shop:${sha256(keys.shop)}:bank-data+essays`,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...env,
      });
      gateways.push(gateway);
      return gateway;
    },
    /**
     * Stops the gateways, and checks that spans and log lines say the same, and that neither keys nor personal data are
     * seen. @returns the statuses of the calls in the traces of these requests
     */
    async end(...requestIds: string[]): Promise<unknown[][]> {
      for (const gateway of gateways) await gateway.stop();
      expectNoCanaries(collector, upstream, gateways);
      const callsOf = expectSpans(collector, upstream, gateways);
      return requestIds.map(callsOf);
    },
  };
}

/** A gateway, with all that an operator can see of it. */
interface ObservedGateway {
  /** The whole log. */
  logText(): string;
  announceStop(): void;
  send(requestId: string, body: object, credentials?: Record<string, string>): Promise<Sent>;
  /** Status and body of /ready, on a connection of its own, as probes are. */
  readiness(): Promise<unknown[]>;
  scrape(): Promise<Scraped>;
  /** Repeats the scrape until this is true. */
  scrapeUntil(isTrue: (scraped: Scraped) => boolean): Promise<Scraped>;
  /** All lines so far. Each is a JSON object. */
  log(): LogLine[];
  /** Waits for the line of this request. @returns the lines since the last call, that one included */
  logUntil(requestId: string): Promise<LogLine[]>;
  /** Sets the clock 30 s forward. */
  advanceClock(): void;
  /** The texts of all scrapes. */
  scraped(): string;
  /** Begins to close it. Resolves when connections are refused. */
  endDelay(): Promise<void>;
  /** Resolves when it is closed. */
  stop(): Promise<void>;
}

interface Sent {
  status: number;
  data: Record<string, unknown> | null;
  /** Of its errors, each once. */
  codes: string[];
}

async function tObservedGateway({ url }: Upstream, env: Record<string, string>): Promise<ObservedGateway> {
  const gateway = tGateway({ bankDataUrl: url, essaysUrl: url, env: { METRICS_PORT: '0', LOG_LEVEL: 'info', ...env } });
  const origin = await gateway.listen();
  const { now } = Date;
  const elapsed = performance.now.bind(performance);
  const scrapes: string[] = [];
  let read = 0;
  let aheadMs = 0;

  async function readiness(): Promise<unknown[]> {
    const response = await fetch(`${origin}/ready`, { headers: { connection: 'close' } });
    return [response.status, await response.json()];
  }

  async function scrapeOnce(): Promise<Scraped> {
    const scraped = await scrape(gateway.metricsUrl());
    scrapes.push(scraped.text);
    return scraped;
  }

  /** The last line may be incomplete. */
  const log = () =>
    gateway
      .log()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine);

  return {
    logText: gateway.log,
    announceStop: gateway.announceStop,
    async send(requestId, body, credentials = shop) {
      const headers = { 'content-type': 'application/json', 'x-request-id': requestId, ...credentials };
      const response = await fetch(`${origin}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
      const { data = null, errors = [] } = (await response.json()) as {
        data?: Record<string, unknown>;
        errors?: { extensions: { code: string } }[];
      };
      return { status: response.status, data, codes: [...new Set(errors.map(({ extensions }) => extensions.code))] };
    },
    readiness,
    scrape: scrapeOnce,
    async scrapeUntil(isTrue) {
      let scraped = await scrapeOnce();
      const isReached = async () => {
        scraped = await scrapeOnce();
        return isTrue(scraped);
      };
      if (!isTrue(scraped)) await vi.waitUntil(isReached, { interval: 5, timeout: 100_000 });
      return scraped;
    },
    log,
    async logUntil(requestId) {
      const isLast = (line: LogLine) => line.msg === 'request' && line.requestId === requestId;
      await vi.waitUntil(() => log().some(isLast), { interval: 5, timeout: 100_000 });
      const end = log().findIndex(isLast) + 1;
      expect(end).toBeGreaterThan(read);
      const lines = log().slice(read, end);
      read = end;
      return lines;
    },
    advanceClock() {
      aheadMs += 30_000;
      // Timers are not affected.
      vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
      vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + aheadMs);
    },
    scraped: () => scrapes.join(''),
    async endDelay() {
      void gateway.close();
      const isListening = () => readiness().then(() => true);
      while (await isListening().catch(() => false));
    },
    stop: gateway.close,
  };
}

/** The lines that are not of requests. */
const eventsOf = (lines: readonly LogLine[]) => lines.filter(({ msg }) => msg !== 'request');
const lineOf = (lines: readonly LogLine[], id: string) => lines.find(({ requestId }) => requestId === id);

/** One span per line of a request, with the same values, and one per call. @returns a reader of the calls of a request */
function expectSpans({ spans }: Collector, upstream: Upstream, gateways: readonly ObservedGateway[]) {
  const servers = spans.filter(({ kind }) => kind === 'server');
  const clients = spans.filter(({ kind }) => kind === 'client');
  const lines = gateways.flatMap(({ log }) => log()).filter(({ msg }) => msg === 'request');
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
  const ofLines = lines.map(
    ({ traceId, operationType, requestId, status, operationName, errors, lookUps, cacheHits, upstreamCalls }) => ({
      traceId: String(traceId),
      name: operationType ?? 'GraphQL Operation',
      isError: /UPSTREAM_/.test(String(errors)),
      ...{ requestId, status, operationName, errors, lookUps, cacheHits, upstreamCalls },
    }),
  );
  const byTrace = (one: { traceId: string }, other: { traceId: string }) => one.traceId.localeCompare(other.traceId);
  expect(ofSpans.toSorted(byTrace)).toEqual(ofLines.toSorted(byTrace));
  expect(clients).toHaveLength(upstream.calls.length);
  expect(new Set(servers.map(({ resource }) => resource['service.instance.id'])).size).toBe(gateways.length);

  return (id: string) => {
    const { traceId } = servers.find(({ attributes }) => attributes['ledgerquill.request.id'] === id) ?? {};
    return clients
      .filter((client) => client.traceId === traceId)
      .map(({ attributes }) => attributes['http.response.status_code']);
  };
}

/** Neither keys nor personal data are seen; names of callers and addresses of upstreams, only where it is documented. */
function expectNoCanaries({ requests }: Collector, upstream: Upstream, gateways: readonly ObservedGateway[]): void {
  const spans = requests.map(({ text }) => text).join('\n');
  const logs = gateways.map(({ logText }) => logText()).join('');
  const metrics = gateways.map(({ scraped }) => scraped()).join('');
  for (const text of [spans, logs, metrics]) {
    expect(text.length).toBeGreaterThan(300);
    for (const canary of [...Object.values(keys), sha256(keys.shop), essayText, topic])
      expect(text).not.toContain(canary);
    expect(text).not.toMatch(/[A-Z]{2}\d{20}/);
  }
  for (const text of [spans, logs, metrics]) expect(text).not.toContain(new URL(upstream.url).host);
  expect(spans).not.toContain('api-key:shop');
}

/* Readers of the metrics that tell what happened. */

const path = '/bank_data/iban_validate';
const endpoint = { service: 'bank-data', endpoint: path };

const circuit = ({ value }: Scraped) =>
  ['closed', 'open', 'half_open'].find((state) => value('ledgerquill_circuit_breaker_state', { ...endpoint, state }));
const circuitChanges = ({ value }: Scraped) =>
  ['open', 'half_open', 'closed'].map(
    (state) => value('ledgerquill_circuit_breaker_transitions_total', { ...endpoint, state }) ?? 0,
  );
const lookUps = ({ value }: Scraped) =>
  ['hit', 'stale', 'miss'].map((result) => value('ledgerquill_cache_look_ups_total', { result }));
const operations = ({ value }: Scraped) =>
  ['answered', 'failed', 'shed', 'exhausted'].map((outcome) =>
    value('ledgerquill_upstream_operations_total', { service: 'bank-data', outcome }),
  );
const paidCalls = ({ value }: Scraped) => value('ledgerquill_paid_calls_total', { service: 'bank-data' });
const essays = ({ value }: Scraped) =>
  ['generated', 'from_key', 'failed'].map((outcome) => value('ledgerquill_essays_total', { outcome }));
const errors = ({ value }: Scraped, code: string) => value('ledgerquill_graphql_errors_total', { code });
const remaining = ({ value }: Scraped) =>
  ['bank-data', 'essays'].map((service) => value('ledgerquill_allowance_remaining', { service }));
