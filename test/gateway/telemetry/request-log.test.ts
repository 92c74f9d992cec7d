import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorCodes } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import type { FinishedRequest } from '../../../src/gateway/telemetry/events.ts';
import { createRequestLog } from '../../../src/gateway/telemetry/log-events.ts';
import { as, ec, jwkOf, jwt, sha256, tCallers, tToken, ways } from '../../support/gateway/callers.ts';
import { tSend } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { succeeded } from '../../support/gateway/telemetry/events.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { tGateway } from '../../support/gateway.ts';
import { type Reply, replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

const iban = 'DE89370400440532013000';
const query = 'query Payee($iban: String!) { ibanValidation(iban: $iban) { valid } }';
const question = { query, variables: { iban } };
const replyValid = replyJson(200, seenIbanValidation);

type Line = Record<string, unknown>;

/** `lines` waits until the log has this number of lines about requests. */
async function tLogged(env: Record<string, string> = {}) {
  const upstream = await tUpstream(replyValid);
  const gateway = await tCallers({ callers: { shop: 'bank-data+essays', payroll: 'essays' }, upstream, env });
  const lines = async (count: number): Promise<Line[]> => {
    const found = () => gateway.log().match(/^.*"msg":"request".*$/gm) ?? [];
    await vi.waitUntil(() => found().length >= count, { interval: 5, timeout: 100_000 });
    return found().map((line) => JSON.parse(line));
  };
  return { ...gateway, upstream, lines };
}

const order = (wordCount: number) => ({
  query: `mutation Order($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }`,
  variables: { input: { description: 'Pens', wordCount } },
});
const territory = 'query Generate { generateIban(input: { country: "JE" }) { __typename } }';

describe('the line of an order or a generation', () => {
  it.each<[string, object, Reply, string[] | undefined]>([
    ['Essay', order(9), replyJson(200, { essay: 'A pen holds ink. It writes.' }), undefined],
    ['EssayServiceFailed', order(9), replyJson(401, {}), ['UPSTREAM_REJECTED_CREDENTIALS']],
    ['EssayServiceFailed', order(9), replyJson(500, {}), ['UPSTREAM_FAILED']],
    ['EssayAllowanceExhausted', order(9), replyJson(429, {}), ['UPSTREAM_ALLOWANCE_EXHAUSTED']],
    ['InvalidEssayInput', order(0), replyValid, ['BAD_USER_INPUT']],
    ['InvalidIbanFields', { query: territory }, replyValid, ['BAD_USER_INPUT']],
  ])(
    'has the type %s and the code of its result, as the counter of errors has: %j',
    async (type, body, reply, codes) => {
      const { send, upstream, lines, metricsUrl } = await tLogged({ METRICS_PORT: '0' });
      upstream.answers(reply);
      const received = await send('directly', body, as('shop'));
      expect(JSON.stringify(received.json())).toContain(`"${type}"`);
      const [line] = await lines(1);
      expect(line).toMatchObject({ status: 200, outcomes: [type] });
      expect(line?.errors).toEqual(codes);
      const { value } = await scrape(metricsUrl());
      for (const code of errorCodes) {
        expect(value('ledgerquill_graphql_errors_total', { code }), code).toBe(codes?.includes(code) ? 1 : 0);
      }
    },
  );
});

describe('the line of a request', () => {
  it.each(ways)('has caller, client, operation, durations and look-ups, answered %s', async (way) => {
    const { send, lines } = await tLogged();
    const headers = {
      ...as('shop'),
      'x-request-id': 'r-1',
      'apollographql-client-name': 'we\tb',
      'apollographql-client-version': `1.2-${'x'.repeat(200)}`,
    };
    const received = await send(way, question, headers);
    expect(received).toMatchObject({ status: 200, headers: { 'x-request-id': 'r-1' } });
    const [line, ...others] = await lines(1);
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number),
      requestId: 'r-1',
      method: way === 'directly' ? 'POST' : 'GET',
      route: '/graphql',
      status: 200,
      operationType: 'query',
      operationName: 'Payee',
      caller: 'api-key:shop',
      clientName: 'we b',
      clientVersion: `1.2-${'x'.repeat(96)}`,
      durationMs: expect.any(Number),
      overheadMs: expect.any(Number),
      lookUps: 1,
      cacheHits: 0,
      staleHits: 0,
      upstreamCalls: 1,
      msg: 'request',
    });
    expect(line?.overheadMs).toBeGreaterThan(0);
    expect(line?.overheadMs).toBeLessThan(Number(line?.durationMs));
  });

  it('counts the look-ups of a kept reply as hits', async () => {
    const { post, lines } = await tLogged();
    for (let count = 0; count < 3; count += 1) await post(question, as('shop'));
    const [, executed, kept] = await lines(3);
    expect(executed).toMatchObject({ lookUps: 1, cacheHits: 1, upstreamCalls: 0 });
    expect(executed).not.toHaveProperty('kept');
    expect(kept).toMatchObject({ operationName: 'Payee', kept: true, lookUps: 1, cacheHits: 1, upstreamCalls: 0 });
  });

  it.each(ways)('has the codes of errors, each once, and 100 characters of a long name, answered %s', async (way) => {
    const { send, lines } = await tLogged();
    const denied = '{ a: ibanValidation(iban: "DE89") { valid } b: ibanValidation(iban: "DE88") { valid } }';
    await send(way, { query: denied }, as('payroll'));
    await send(way, question, {});
    await send(way, { query: '{ nothing }' }, as('shop'));
    await send(way, { query: `query ${'N'.repeat(300)} { __typename }` }, as('shop'));
    const [forbidden, unknown, invalid, long] = await lines(4);
    expect(forbidden).toMatchObject({ status: 200, caller: 'api-key:payroll', errors: ['FORBIDDEN'] });
    expect(unknown).toMatchObject({ status: 401, errors: ['UNAUTHENTICATED'] });
    expect(unknown).not.toHaveProperty('caller');
    expect(invalid).toMatchObject({ errors: ['GRAPHQL_VALIDATION_FAILED'] });
    expect(invalid).not.toHaveProperty('operationType');
    expect(long).toMatchObject({ operationName: 'N'.repeat(100) });
    expect(long).not.toHaveProperty('errors');
  });

  it('and the metrics have the code of a connection that fails, with the request', async () => {
    // Its upstreams refuse connections.
    const gateway = tGateway({ env: { METRICS_PORT: '0', REVISION: '1a2b3c4' } });
    await tSend(`${await gateway.listen()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'request-7' },
      body: JSON.stringify(question),
    });
    const line = gateway
      .log()
      .split('\n')
      .find((text) => text.includes('upstream call failed'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      failure: 'unreachable',
      code: 'ECONNREFUSED',
      requestId: 'request-7',
    });
    const { value } = await scrape(gateway.metricsUrl());
    const refused = { service: 'bank-data', error_code: 'ECONNREFUSED' };
    expect(value('ledgerquill_unreachable_calls_total', refused)).toBeGreaterThan(0);
    expect(value('ledgerquill_build_info', { revision: '1a2b3c4' })).toBe(1);
  });

  it.each(ways)('has the id of a persisted document, answered %s', async (way) => {
    const { send, lines } = await tLogged();
    const persistedQuery = { version: 1, sha256Hash: sha256(query) };
    const persisted = { variables: { iban }, extensions: { persistedQuery } };
    await send(way, persisted, as('shop'));
    await send(way, { ...persisted, query }, as('shop'));
    await send(way, persisted, as('shop'));
    const [missing, registered, found] = await lines(3);
    expect(missing).toMatchObject({ errors: ['PERSISTED_QUERY_NOT_FOUND'] });
    expect(missing).not.toHaveProperty('documentId');
    for (const line of [registered, found]) expect(line).toMatchObject({ documentId: sha256(query).slice(0, 32) });
  });

  it.each(ways)('has the id of a trusted document that was sent as text, answered %s', async (way) => {
    const manifest = join(tFolder(), 'manifest.json');
    writeFileSync(manifest, JSON.stringify({ [sha256(query)]: query }));
    const { send, lines } = await tLogged({ TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_MODE: 'prefer' });
    await send(way, question, as('shop'));
    await send(way, { ...question, query: `${query} # other` }, as('shop'));
    await send(way, { query: '{ __typename }' }, as('shop'));
    const [trusted, , other] = await lines(3);
    expect(trusted).toMatchObject({ documentId: sha256(query).slice(0, 32) });
    expect(other).not.toHaveProperty('documentId');
  });

  it.each(ways)(
    'has the id of a trusted document only, not of others that differ in a text, answered %s',
    async (way) => {
      const manifest = join(tFolder(), 'manifest.json');
      const queryOf = (code: string) => `{ country(code: "${code}") { code } }`;
      writeFileSync(manifest, JSON.stringify({ germany: queryOf('DE') }));
      const { send, lines } = await tLogged({ TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_MODE: 'prefer' });
      for (const code of ['DE', 'FR', 'DE', 'GB']) await send(way, { query: queryOf(code) }, as('shop'));
      const ids = (await lines(4)).map(({ documentId }) => documentId);
      const trusted = sha256(queryOf('DE')).slice(0, 32);
      expect(ids).toEqual([trusted, undefined, trusted, undefined]);
    },
  );

  it('has a hash of the subject of a token', async () => {
    const { post, lines, log } = await tLogged({ ...jwt, JWT_PUBLIC_KEY: JSON.stringify(jwkOf(ec.publicKey, 'k1')) });
    const token = await tToken({ sub: 'alice@mail.example', scope: 'bank-data' });
    await post(question, { authorization: `Bearer ${token}` });
    await post(question, { authorization: `Bearer ${token}` });
    const [first, second] = await lines(2);
    expect(first?.caller).toMatch(/^jwt:[\w-]{11}$/);
    expect(second?.caller).toBe(first?.caller);
    expect(log()).not.toContain('alice');
  });

  it('has the status 499 and no error if the client disconnects, in its body or later', async () => {
    const { origin, upstream, lines, log } = await tLogged();
    const { reply, release } = replyHeld(replyValid);
    upstream.answers(reply);
    onTestFinished(release);
    const body = JSON.stringify(question);
    const { authorization } = as('shop');
    const head = `host: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json`;
    const sendPart = (text: string) => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      socket.write(`POST /graphql HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${text}`);
      return socket;
    };
    const called = upstream.nextCall();
    const executing = sendPart(body);
    await called;
    executing.destroy();
    await lines(1);
    const sending = sendPart(body.slice(0, 10));
    await once(sending, 'connect');
    await new Promise((resolve) => setImmediate(resolve));
    sending.destroy();
    const [left, unfinished] = await lines(2);
    expect(left).toMatchObject({ status: 499, operationName: 'Payee', upstreamCalls: 1 });
    expect(unfinished).toMatchObject({ status: 499, route: '/graphql' });
    expect(log()).not.toContain('"level":50');
  });

  it('is written for GraphiQL and unknown paths, but not for health checks', async () => {
    const { origin, lines } = await tLogged({ GRAPHIQL: 'on' });
    const headers = { accept: 'text/html' };
    for (const path of ['/health', '/ready', '/graphql', '/other'])
      await (await fetch(origin + path, { headers })).text();
    expect(await lines(2)).toMatchObject([
      { method: 'GET', route: '/graphql', status: 200 },
      { route: 'other', status: 404, errors: ['BAD_USER_INPUT'] },
    ]);
  });

  it('counts the time of an essay as waiting, and those of a joined order, too', async () => {
    const { post, upstream, lines } = await tLogged();
    const { reply, release } = replyHeld(replyJson(200, { essay: 'An essay.' }));
    upstream.answers(reply);
    const order = {
      query: 'mutation Order($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }',
      variables: { input: { description: 'Pens', wordCount: 100, idempotencyKey: 'k' } },
    };
    const called = upstream.nextCall();
    const both = [post(order, as('shop')), post(order, as('shop'))];
    await called;
    const since = performance.now();
    while (performance.now() - since < 50) await new Promise((resolve) => setImmediate(resolve));
    release();
    await Promise.all(both);
    for (const { durationMs, overheadMs } of await lines(2))
      expect(Number(durationMs) - Number(overheadMs)).toBeGreaterThan(45);
  });
});

describe('the request log', () => {
  function tRequestLog(perSecond: number) {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const lines: Line[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const requestLog = createRequestLog(createLog({ level: 'info', redact: (text) => text, destination }), perSecond);
    const finish = (request: Partial<FinishedRequest>, count: number) => {
      for (let index = 0; index < count; index += 1) requestLog.requestFinished({ ...succeeded, ...request });
    };
    return { requestLog, lines, finish };
  }

  it('writes a bounded number of lines per second, failures apart, and the number of the others', () => {
    const { requestLog, lines, finish } = tRequestLog(3);
    finish({}, 10);
    finish({ status: 503 }, 2);
    finish({ errorCodes: ['BAD_USER_INPUT'] }, 1);
    finish({ errorCodes: ['FORBIDDEN', 'INTERNAL_SERVER_ERROR'] }, 1);
    finish({ errorCodes: ['UPSTREAM_FAILED'] }, 3);
    expect(lines.map(({ status, errors }) => [status, errors])).toEqual([
      ...Array(3).fill([200, undefined]),
      ...Array(2).fill([503, undefined]),
      [200, ['FORBIDDEN', 'INTERNAL_SERVER_ERROR']],
    ]);
    expect(requestLog.droppedLines()).toBe(11);
    finish({ endedAt: 2_000 }, 4);
    expect(lines).toHaveLength(9);
    vi.advanceTimersByTime(10_000);
    const msg = 'requests were not logged: there were too many';
    expect(lines.at(-1)).toMatchObject({ dropped: 12, perSecond: 3, msg });
    finish({ endedAt: 2_500 }, 1);
    vi.advanceTimersByTime(10_000);
    expect(lines.at(-1)).toMatchObject({ dropped: 1 });
    expect(requestLog.droppedLines()).toBe(13);
  });

  it('writes nothing if the rate is 0', () => {
    const { requestLog, lines, finish } = tRequestLog(0);
    finish({ status: 500 }, 3);
    expect(lines).toEqual([]);
    expect(requestLog.droppedLines()).toBe(0);
  });
});
