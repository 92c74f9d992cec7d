import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Environment } from '../../../src/base/variables/read-variables.ts';
import { createLogExport } from '../../../src/gateway/telemetry/otlp/log-export.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { type ReceivedPoint, tCollector } from '../../support/gateway/telemetry/otlp-collector.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { bankDataKey, essaysKey } from '../../support/gateway.ts';
import { tIban } from '../../support/ibans.ts';
import { createCertificate, postJson } from '../../support/loopback.ts';
import { tGatewayProcess } from '../../support/process.ts';
import { replyJson, tUnusedUrl, tUpstream } from '../../support/scripted-upstream.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const both = { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' };
const lookUp = (iban: string) => ({ query: `query Check { ibanValidation(iban: "${iban}") { valid } }` });

/** What is left is exported when the gateway closes. */
async function tExporting(env: Environment = {}, reply = replyJson(200, { valid: true })) {
  const collector = await tCollector();
  const upstream = await tUpstream(reply);
  const gateway = await tListeningGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...both, ...env }, upstream);
  return { ...gateway, collector };
}

/** The lines of /metrics for these points. */
function toLines(points: readonly ReceivedPoint[]): string[] {
  return points.flatMap(({ name, kind, attributes, value, counts, bounds }) => {
    const line = (suffix: string, number: number, labels = attributes) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
      return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${number}`;
    };
    if (kind !== 'histogram') return [line('', value)];
    const below = (index: number) => counts.slice(0, index + 1).reduce((sum, count) => sum + count);
    const buckets = [...bounds, '+Inf'].map((le, index) => line('_bucket', below(index), { ...attributes, le }));
    return [...buckets, line('_sum', value), line('_count', below(counts.length))];
  });
}

/** Other than a moment before. */
const changing = /^(process|v8js|nodejs)_|^ledgerquill_data_dir_free/;

describe('metrics', () => {
  it('have the names, labels, values and kinds of /metrics', async () => {
    const { post, collector, close, metricsUrl } = await tExporting({ METRICS_PORT: '0' });
    for (const number of [1, 2, 2]) await post(lookUp(tIban(number)));
    await post({ query: '{ unknown }' });
    const { text, names } = await scrape(metricsUrl());
    await close();
    const read = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !changing.test(line));
    expect(toLines(collector.points.filter(({ name }) => !changing.test(name)))).toEqual(read);
    expect(new Set(collector.points.map(({ name }) => name))).toEqual(names);
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
    for (const point of collector.points) {
      const { name, kind, isCumulative, resource } = point;
      expect([name, kind]).toEqual([name, types.get(name)]);
      expect(isCumulative).toBe(kind !== 'gauge');
      expect(resource).toMatchObject({ 'service.name': 'ledgerquill', 'service.instance.id': expect.any(String) });
    }
    const unitOf = (name: string) => collector.points.find((point) => point.name === name)?.unit;
    expect(
      ['process_cpu_time_seconds_total', 'process_memory_usage_bytes', 'ledgerquill_store_up'].map(unitOf),
    ).toEqual(['s', 'By', '']);
  });

  it('are exported without a metrics server', async () => {
    const { post, collector, close, metricsUrl } = await tExporting();
    await post(lookUp(tIban(1)));
    expect(metricsUrl()).toBeNull();
    await close();
    const requests = collector.points.filter(({ name }) => name === 'ledgerquill_graphql_requests_total');
    expect(requests.map(({ value }) => value)).toEqual([1]);
  });
});

describe('lines of the log', () => {
  it('are exported with severity, text, time, trace id and fields, all of them, and in order', async () => {
    const { post, collector, close, log, setDebug } = await tExporting({}, replyJson(500, {}));
    setDebug(true);
    await post(lookUp(tIban(1)), { traceparent });
    await close();
    const written = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const exported = collector.lines.map(({ time, severity, body, attributes }) => {
      return { level: { 5: 20, 9: 30, 13: 40 }[severity[0]], time, ...attributes, msg: body };
    });
    expect(exported).toEqual(written);
    expect(collector.lines.map(({ severity: [, text] }) => text)).toEqual(
      expect.arrayContaining(['debug', 'info', 'warn']),
    );
    const request = collector.lines.find(({ body }) => body === 'request');
    expect(request).toMatchObject({ traceId, severity: [9, 'info'], resource: { 'service.name': 'ledgerquill' } });
  });

  it('beyond 2,048 that wait are dropped, which is reported', async () => {
    const { url, answers, lines } = await tCollector();
    const config = { endpoint: url, headers: {}, resource: {}, signals: [], ratio: 0, followsParent: false };
    const onFailed = vi.fn();
    const { add, close } = createLogExport(config, onFailed);
    for (let index = 0; index < 3_000; index += 1) add(`{"level":30,"time":${Date.now()},"msg":"line"}`);
    expect(onFailed.mock.calls).toEqual(Array(952).fill(['too many wait, further ones are dropped']));
    await vi.waitUntil(() => lines.length === 2_048, { interval: 5, timeout: 100_000 });
    add('{"level":30,"time":0,"msg":"later"}');
    answers(401);
    await close();
    expect(onFailed.mock.lastCall).toEqual(['HTTP status 401']);
  });

  it('that are no JSON, as a secret was a number, are exported as text', async () => {
    const { url, lines } = await tCollector();
    const config = { endpoint: url, headers: {}, resource: {}, signals: [], ratio: 0, followsParent: false };
    const { add, close } = createLogExport(config, () => {});
    add('{"level":30,"seconds":[hidden]}');
    await close();
    expect(lines.map(({ body }) => body)).toEqual(['{"level":30,"seconds":[hidden]}']);
  });
});

describe('what is exported', () => {
  it.each([
    ['traces', {}],
    ['metrics and logs', both],
    ['nothing', { OTEL_TRACES_EXPORTER: 'none' }],
  ])('is %s with %o', async (what, env) => {
    const none = { OTEL_TRACES_EXPORTER: '', OTEL_METRICS_EXPORTER: '', OTEL_LOGS_EXPORTER: '' };
    const { post, collector, close } = await tExporting({ ...none, ...env });
    await post(lookUp(tIban(1)));
    await close();
    const expected = { traces: ['/v1/traces'], 'metrics and logs': ['/v1/logs', '/v1/metrics'], nothing: [] }[what];
    expect([...new Set(collector.requests.map(({ path }) => path))].sort()).toEqual(expected);
  });

  it('contains no secret, no IBAN, and no text of a client that is one', async () => {
    const secret = 'seeded-collector-key';
    const env = { ...both, OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_HEADERS: `api-key=${secret}` };
    const { post, collector, close } = await tExporting(env, replyJson(500, { error: `${bankDataKey} ${tIban(1)}` }));
    for (const text of [bankDataKey, essaysKey, secret, tIban(1)]) {
      const headers = { 'x-request-id': text, 'apollographql-client-name': text };
      await post(
        { query: `query ${text.replaceAll('-', '_')} { ibanValidation(iban: "${tIban(1)}") { valid } }` },
        headers,
      );
      await post(lookUp(tIban(1)), headers);
    }
    await close();
    expect(collector.lines.map(({ body }) => body)).toContain('upstream call failed');
    const exported = JSON.stringify([collector.lines, collector.points, collector.spans]);
    const sent = exported + collector.requests.map(({ text }) => text).join('');
    for (const canary of [bankDataKey, essaysKey, secret, tIban(1)]) expect(sent).not.toContain(canary);
    expect(exported).toContain('[hidden]');
    expect(exported).toContain('[IBAN]');
  });
});

it.each([
  ['', false],
  [' with the certificate of OTEL_EXPORTER_OTLP_CERTIFICATE', true],
])('a process exports its last lines and values before it ends%s', async (_, isEncrypted) => {
  const certificate = isEncrypted ? await createCertificate() : null;
  const collector = await tCollector(certificate);
  const file = join(tFolder(), 'certificate.pem');
  writeFileSync(file, certificate?.cert ?? '');
  const { origin, process } = await tGatewayProcess({
    ...both,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...(isEncrypted && { OTEL_EXPORTER_OTLP_CERTIFICATE: file }),
  });
  await postJson(`${origin}/graphql`, { query: '{ __typename }' });
  process.kill('SIGTERM');
  expect(await process.ended).toEqual({ code: 0, signal: null });
  const bodies = collector.lines.map(({ body }) => body);
  for (const body of ['request', 'stopping: active requests are finished first']) expect(bodies).toContain(body);
  expect(process.stderr().trim().split('\n')).toHaveLength(bodies.length);
  expect(collector.points.map(({ name }) => name)).toContain('ledgerquill_graphql_requests_total');
});

describe('a collector', () => {
  it.each([
    ['that is unreachable', 'ECONNREFUSED'],
    ['that rejects', 'HTTP status 401'],
    ['that is silent', 'Request timed out'],
  ])('%s is logged once for each signal, and the gateway stops', async (kind, reason) => {
    const { url, answers } = await tCollector();
    answers(kind === 'that is silent' ? null : 401);
    const OTEL_EXPORTER_OTLP_ENDPOINT = kind === 'that is unreachable' ? await tUnusedUrl() : url;
    const { post, close, log } = await tExporting({ OTEL_EXPORTER_OTLP_ENDPOINT });
    await post(lookUp(tIban(1)));
    await close();
    const failures = log()
      .match(/^.*were not exported.*$/gm)
      ?.map((line) => JSON.parse(line));
    expect(failures?.map(({ msg, reason }) => [msg.split(' were')[0], reason])).toEqual([
      ['metrics', reason],
      ['lines of the log', reason],
    ]);
  });
});
