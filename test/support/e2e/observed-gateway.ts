import { expect, vi } from 'vitest';
import { sha256 } from '../gateway/callers/identify.ts';
import { type Collector, tCollector } from '../gateway/telemetry/otlp-collector.ts';
import { type Scraped, scrape } from '../gateway/telemetry/scrape.ts';
import { bankDataKey, essaysKey, tGateway } from '../gateway.ts';
import { type Reply, replyJson, tUpstream, type Upstream } from '../scripted-upstream.ts';

/* A gateway in production, with all that an operator can see of it: metrics, log and spans. */

export type LogLine = Record<string, unknown> & { msg: string; level: number };

const keys = {
  bankData: bankDataKey,
  essays: essaysKey,
  store: 'seeded-secret-of-the-store',
  shop: 'lq_seeded-key-of-the-shop',
};
export const essayText = 'A pen leaves a thought where others find it. '.repeat(5).trim();
const topic = 'Seeded pens';

/** Every IBAN is valid, and every order is an essay. */
export const replyWell: Reply = (response, call) => {
  const iban = call.query.get('iban_number');
  return replyJson(200, iban === null ? { essay: essayText } : { valid: true, iban })(response, call);
};

export const validate = (...ibans: string[]) => ({
  query: 'query Check($ibans: [String!]!) { ibanValidations(ibans: $ibans) { valid } }',
  variables: { ibans },
});
export const order = (idempotencyKey?: string) => ({
  query: `mutation Order($input: GenerateEssayInput!) {
    generateEssay(input: $input) { __typename ... on Essay { id text } ... on EssayServiceFailed { code } } }`,
  variables: { input: { description: topic, wordCount: 100, idempotencyKey } },
});

export const succeeded = { status: 200, codes: [] };

const shop = { authorization: `Bearer ${keys.shop}`, 'apollographql-client-name': 'web' };

/** Starts gateways with an upstream that replies well, and a collector of their spans. */
export async function tObserved(env: Record<string, string> = {}) {
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
export interface ObservedGateway {
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
export const eventsOf = (lines: readonly LogLine[]) => lines.filter(({ msg }) => msg !== 'request');
export const lineOf = (lines: readonly LogLine[], id: string) => lines.find(({ requestId }) => requestId === id);

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
