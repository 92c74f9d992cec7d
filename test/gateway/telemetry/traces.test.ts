import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { createRequestTracer } from '../../../src/gateway/telemetry/otlp/request-trace.ts';
import { sha256 } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { type ReceivedSpan, tCollector } from '../../support/gateway/telemetry/otlp-collector.ts';
import { tIban } from '../../support/ibans.ts';
import {
  type Reply,
  replyHeld,
  replyJson,
  replyText,
  tUnusedUrl,
  tUpstream,
  type Upstream,
} from '../../support/scripted-upstream.ts';

const iban = 'DE89370400440532013000';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const lookUp = `query Check { ibanValidation(iban: "${iban}") { valid } }`;

interface TTracedOptions {
  reply?: Reply;
  upstream?: Upstream;
  env?: Environment;
}

/** `spans` closes the gateway, which exports what is left. */
async function tTraced({ reply = replyJson(200, { valid: true }), env = {}, ...given }: TTracedOptions = {}) {
  const collector = await tCollector();
  const upstream = given.upstream ?? (await tUpstream(reply));
  const gateway = await tListeningGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, upstream);
  const spans = () => gateway.close().then(() => collector.spans);
  return { ...gateway, collector, upstream, spans };
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

describe('a sampled request', () => {
  it('that checks a file has one span, whose route is /check, however many IBANs it has', async () => {
    const { origin, spans } = await tTraced();
    const body = `IBAN\n${tIban(1)}\n${tIban(2)}\n`;
    const response = await fetch(`${origin}/check`, { method: 'POST', body, headers: { 'content-type': 'text/csv' } });
    expect((await response.text()).split('\n')).toHaveLength(3);
    const received = await spans();
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      name: 'POST /check',
      kind: 'server',
      attributes: { 'http.route': '/check', 'http.response.status_code': 200 },
    });
    expect(JSON.stringify(received)).not.toContain(tIban(1));
  });

  it('is a server span with a span per batch of look-ups and per upstream call', async () => {
    const { post, spans } = await tTraced();
    const ibans = [tIban(1), tIban(2), tIban(1)];
    await post(
      { query: 'query Page($i: [String!]!) { ibanValidations(ibans: $i) { valid } }', variables: { i: ibans } },
      { 'x-request-id': 'request-1' },
    );
    const received = await spans();
    const [request] = named(received, 'query');
    const [load] = named(received, 'load ibans');
    const calls = named(received, 'GET /bank_data/iban_validate');
    expect(received).toHaveLength(4);
    expect(request).toMatchObject({
      kind: 'server',
      parentId: '',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/graphql',
        'http.response.status_code': 200,
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'Page',
        'ledgerquill.request.id': 'request-1',
        'ledgerquill.look_ups': 2,
        'ledgerquill.cache_hits': 0,
        'ledgerquill.upstream_calls': 2,
      },
      resource: { 'service.name': 'ledgerquill', 'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/) },
    });
    expect(load).toMatchObject({
      kind: 'internal',
      parentId: request?.spanId,
      attributes: { 'ledgerquill.loader': 'ibans', 'ledgerquill.keys': 2 },
    });
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(call).toMatchObject({ kind: 'client', parentId: load?.spanId, isError: false });
      expect(call.attributes).toEqual({
        'http.request.method': 'GET',
        'url.template': '/bank_data/iban_validate',
        'service.peer.name': 'bank-data',
        'http.response.status_code': 200,
      });
      expect(call.durationMs).toBeLessThanOrEqual(request?.durationMs ?? 0);
    }
    expect(new Set(received.map((span) => span.traceId)).size).toBe(1);
  });

  it('has a span for each attempt, with its status or the reason of its failure', async () => {
    const { post, upstream, spans } = await tTraced({ reply: replyText(503, '') });
    await post({ query: lookUp });
    await upstream.stop();
    await post({ query: lookUp });
    const received = await spans();
    const [answered, refused] = named(received, 'query');
    const callsOf = (request = answered) =>
      named(received, 'GET /bank_data/iban_validate').filter(({ traceId }) => traceId === request?.traceId);
    const outcome = { 'http.response.status_code': 503, 'error.type': '503' };
    expect(callsOf(answered).map(({ attributes }) => attributes)).toMatchObject([
      outcome,
      { ...outcome, 'http.request.resend_count': 1 },
      { ...outcome, 'http.request.resend_count': 2 },
    ]);
    expect(callsOf(refused).map(({ attributes }) => attributes['error.type'])).toEqual(Array(3).fill('unreachable'));
    const failed = { 'ledgerquill.error.codes': ['UPSTREAM_FAILED'], 'error.type': 'UPSTREAM_FAILED' };
    const attributes = { ...failed, 'http.response.status_code': 200 };
    for (const request of [answered, refused]) expect(request).toMatchObject({ isError: true, attributes });
  });

  it('is an essay order, a GET, a repeated query, or one that is refused', async () => {
    const { post, get, spans } = await tTraced({ reply: replyJson(200, { data: 'An essay.' }) });
    const order = 'mutation { generateEssay(input: { description: "Pens", wordCount: 10 }) { __typename } }';
    await post({ query: order });
    await get({ query: 'query ByGet { countries { code } }' });
    for (let count = 0; count < 3; count += 1) await post({ query: 'query Again { country(code: "DE") { code } }' });
    await post({ query: '{ unknown }' });
    await post('{');
    const received = await spans();
    const [mutation] = named(received, 'mutation');
    expect(named(received, 'POST /v2/generate/essay/')).toMatchObject([{ parentId: mutation?.spanId, kind: 'client' }]);
    const names = named(received, 'query').map(({ attributes }) => attributes['graphql.operation.name']);
    expect(names).toEqual(['ByGet', 'Again', 'Again', 'Again']);
    expect(named(received, 'GraphQL Operation').map(({ isError, attributes }) => [isError, attributes])).toMatchObject([
      [false, { 'error.type': 'GRAPHQL_VALIDATION_FAILED', 'http.response.status_code': 200 }],
      [false, { 'error.type': 'BAD_REQUEST', 'http.response.status_code': 400 }],
    ]);
  });

  it('has status 499 if its client disconnects, and its call ends with the answer', async () => {
    const { reply, release } = replyHeld(replyJson(200, { valid: true }));
    const { url, post, upstream, spans, log } = await tTraced({ reply });
    const client = new AbortController();
    const called = upstream.nextCall();
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: lookUp });
    const answer = fetch(url, { method: 'POST', headers, body, signal: client.signal });
    await called;
    client.abort();
    await expect(answer).rejects.toThrow('aborted');
    await vi.waitUntil(() => log().includes('"status":499'), { interval: 5, timeout: 100_000 });
    release();
    await post({ query: lookUp });
    const received = await spans();
    const statuses = named(received, 'query').map(({ attributes }) => attributes['http.response.status_code']);
    expect(statuses).toEqual([499, 200]);
    const calls = named(received, 'GET /bank_data/iban_validate');
    expect(calls).toMatchObject([{ isError: false, attributes: { 'http.response.status_code': 200 } }]);
  });
});

describe('trace context', () => {
  const untilLogged = (log: () => string) =>
    vi.waitUntil(() => log().includes(`"traceId":"${traceId}"`), { interval: 5, timeout: 100_000 });

  it('continues the trace of a client, and is sent to our own services', async () => {
    const { post, upstream, spans, log } = await tTraced();
    await post({ query: lookUp }, { traceparent: `00-${traceId}-${parentId}-00`, tracestate: 'vendor=1' });
    const received = await spans();
    await untilLogged(log);
    const [call] = named(received, 'GET /bank_data/iban_validate');
    for (const span of received) expect(span).toMatchObject({ traceId, traceState: 'vendor=1' });
    expect(named(received, 'query')[0]?.parentId).toBe(parentId);
    expect(upstream.calls[0]?.headers).toMatchObject({
      traceparent: `00-${traceId}-${call?.spanId}-01`,
      tracestate: 'vendor=1',
    });
  });

  it('is in the line of a request that is not sampled', async () => {
    const { post, spans, log } = await tTraced({ env: { OTEL_TRACES_SAMPLER: 'always_off' } });
    await post({ query: lookUp }, { traceparent: `00-${traceId}-${parentId}-01` });
    expect(await spans()).toEqual([]);
    await untilLogged(log);
  });

  it('is not sent to paid upstreams', async () => {
    const paid = await tUpstream(replyJson(200, { valid: true }));
    const env = { BANK_DATA_URL: paid.url, BANK_DATA_API_KEY: 'seeded-key' };
    const { post, spans } = await tTraced({ upstream: paid, env });
    await post({ query: lookUp }, { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' });
    expect(await spans()).toHaveLength(3);
    expect(paid.calls).toHaveLength(1);
    for (const header of ['traceparent', 'tracestate']) expect(paid.calls[0]?.headers).not.toHaveProperty(header);
  });

  it.each([
    ['of a wrong length', `00-${traceId}-${parentId}-0`],
    ['of version ff', `ff-${traceId}-${parentId}-01`],
    ['of version 00 with more parts', `00-${traceId}-${parentId}-01-more`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['with a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['in upper case', `00-${traceId.toUpperCase()}-${parentId}-01`],
  ])('is ignored %s', async (_, traceparent) => {
    const { post, spans } = await tTraced();
    await post({ query: '{ __typename }' }, { traceparent });
    expect(await spans()).toMatchObject([{ parentId: '', traceId: expect.not.stringMatching(traceId) }]);
  });
});

describe('sampling', () => {
  const sampled = `00-${traceId}-${parentId}-01`;
  const unsampled = `00-${traceId}-${parentId}-00`;

  it.each([
    ['always_on', '', undefined, 1],
    ['always_on', '', unsampled, 1],
    ['always_off', '', sampled, 0],
    ['traceidratio', '0', sampled, 0],
    ['traceidratio', '1', unsampled, 1],
    ['traceidratio', '0.25', sampled, 0.25],
    ['traceidratio', '', unsampled, 1],
    ['parentbased_traceidratio', '0.25', undefined, 0.25],
    ['parentbased_traceidratio', '0.25', 'not valid', 0.25],
    ['parentbased_traceidratio', '0', sampled, 1],
    ['parentbased_always_on', '', unsampled, 0],
    ['parentbased_always_off', '', sampled, 1],
    ['parentbased_always_off', '', undefined, 0],
  ])('%s %s of requests with traceparent %s has the share %d', async (sampler, ratio, traceparent, share) => {
    const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio };
    const { otlp: config } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...env });
    if (config === null) throw new Error('Traces are off.');
    const tracer = createRequestTracer({ config, redact: (text) => text, onFailed() {} });
    onTestFinished(() => tracer.close());
    const start = () => tracer.start({ method: 'POST', route: '/graphql', headers: { traceparent }, requestId: 'r' });
    const count = 2_000;
    const started = Array.from({ length: count }, start).filter((trace) => trace !== null).length;
    // Ten standard deviations.
    if (share === 0.25) expect(Math.abs(started / count - share)).toBeLessThan(0.1);
    else expect(started).toBe(share * count);
  });
});

describe('the export', () => {
  it('drops spans beyond 2,048 that wait, and reports it', async () => {
    const { url, spans } = await tCollector();
    const config = { endpoint: url, headers: {}, resource: {}, signals: [], ratio: 1, followsParent: false };
    const onFailed = vi.fn();
    const { start, close } = createRequestTracer({ config, redact: (text) => text, onFailed });
    for (let index = 0; index < 3_000; index += 1)
      start({ method: 'POST', route: '/graphql', headers: {}, requestId: 'r' })?.end({
        status: 200,
        errorCodes: [],
        reply: null,
      });
    expect(onFailed.mock.calls).toEqual(Array(952).fill(['too many wait, further ones are dropped']));
    await close();
    expect(spans).toHaveLength(2_048);
  });

  it('sends the headers and attributes that are configured, to /v1/traces', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20seeded-collector-key,x-tenant=a',
      OTEL_SERVICE_NAME: 'gateway-of-tests',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    const { post, collector, spans } = await tTraced({ env });
    await post({ query: '{ __typename }' });
    const resource = { 'service.name': 'gateway-of-tests', 'deployment.environment.name': 'test' };
    expect((await spans())[0]).toMatchObject({ resource });
    expect(collector.requests).toMatchObject([
      { path: '/v1/traces', headers: { authorization: 'Bearer seeded-collector-key', 'x-tenant': 'a' } },
    ]);
  });

  it.each([
    ['an unreachable', 'ECONNREFUSED'],
    ['a rejecting', 'HTTP status 401'],
    ['a silent', 'Request timed out'],
    ['an endless', 'the response took too long'],
  ])('to %s collector fails without an effect, and is logged once', async (kind, reason) => {
    const { url, answers } = await tCollector();
    answers(kind === 'a silent' ? null : kind === 'an endless' ? 'endless' : 401);
    const { post, spans, log } = await tTraced({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: kind === 'an unreachable' ? await tUnusedUrl() : url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20seeded-collector-key',
      },
    });
    const ibans = Array.from({ length: 520 }, (_, index) => tIban(index));
    const query = 'query ($i: [String!]!) { ibanValidations(ibans: $i) { valid } }';
    // Two batches of spans.
    expect((await post({ query, variables: { i: ibans } })).status).toBe(200);
    await spans();
    expect(log().match(/^.*spans were not exported.*$/gm)).toEqual([expect.stringContaining(`"reason":"${reason}"`)]);
    expect(log()).not.toContain('seeded-collector-key');
  });
});

it('records exactly what docs/log-and-traces.md lists', async () => {
  const { post, upstream, spans } = await tTraced({ reply: replyText(503, '') });
  await post({ query: lookUp });
  upstream.answers(replyJson(200, { valid: true, data: 'An essay.' }));
  await post({ query: '{ bicValidation(bic: "COBADEFFXXX") { valid } }' });
  await post({ query: 'mutation { generateEssay(input: { description: "Pens", wordCount: 10 }) { __typename } }' });
  await post({ query: '{ unknown }' });
  const query = '{ country(code: "DE") { code } }';
  const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(query) } };
  for (let count = 0; count < 3; count += 1) await post({ query, extensions });
  const received = await spans();
  const page = readFileSync(new URL('../../../docs/log-and-traces.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('\n## Traces\n');
  const rows = [...section.matchAll(/^\| (?:`|method).*$/gm)].map(([line]) => line.split(' | '));
  const codes = (text = '') => [...text.matchAll(/`([\w.-]+(?: \w+)?)`/g)].map(([, code]) => code);
  const documented = rows.flatMap(([, , , attributes]) => codes(attributes).filter((code) => code?.includes('.')));
  const recorded = received.flatMap(({ attributes }) => Object.keys(attributes));
  expect([...new Set(recorded)].sort()).toEqual([...new Set(documented)].sort());
  const names = received.flatMap(({ name }) => (name.includes('/') ? [] : [name]));
  const documentedNames = rows.flatMap(([name]) => codes(name)).filter((name) => name !== 'GET');
  expect([...new Set(names)].sort()).toEqual(documentedNames.sort());
});

it('exports no IBAN, key, essay text or text of a document', async () => {
  const essay = 'canary-essay-text';
  const description = 'canary-description';
  const { post, get, upstream, collector, spans } = await tTraced({ reply: replyJson(200, { data: essay }) });
  const headers = {
    'x-request-id': iban,
    'x-api-key': 'canary-caller-key',
    traceparent: `00-${traceId}-${parentId}-01`,
    tracestate: `vendor=${iban}`,
  };
  const order = `mutation { generateEssay(input: { description: "${description}", wordCount: 10 }) { ... on Essay { text } } }`;
  const named = `query ${iban} { ibanValidation(iban: "${iban}") { valid } }`;
  const bic = '{ bicValidation(bic: "COBADEFFXXX") { valid } }';
  for (const query of [lookUp, order, named, bic, `{ canaryField(iban: "${iban}") }`]) {
    await post({ query, variables: { unused: iban } }, headers);
    await get({ query }, headers);
  }
  const received = await spans();
  expect(received.length).toBeGreaterThan(10);
  const exported = JSON.stringify(received) + collector.requests.map(({ text }) => text).join('');
  const canaries = [iban, essay, description, 'canary', 'COBADEFF', 'seeded', 'ibanValidation', upstream.url.slice(7)];
  for (const canary of canaries) expect(exported).not.toContain(canary);
  expect(received.map(({ attributes }) => attributes['graphql.operation.name'])).toContain('[IBAN]');
});
