import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tIban } from '../support/e2e/iban.ts';
import { tRecordingEssayService } from '../support/e2e/recording-essay-service.ts';
import { tHttpServer } from '../support/free-port.ts';
import { tGate } from '../support/gate.ts';
import {
  type GatewayProcess,
  noUpstreams,
  type OrderData,
  orderMutation,
  orderVariables,
  readEssay,
  tGatewayProcess,
  untilReady,
} from '../support/gateway-process.ts';
import { tCommand, tScript } from '../support/process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';
import { tFolder } from '../support/stores/folder.ts';
import { scrape } from '../support/telemetry/scrape.ts';

/* One gateway in several processes: `ledgerquill start --workers 2`. */

interface Answer {
  status: number;
  text: string;
  /** Differs for each worker. */
  worker: string;
}

/** A kept connection, whose requests are all answered by one worker. */
function tConnection(origin: string) {
  const client = new Client(origin);
  onTestFinished(() => client.destroy());
  return async (query: string, variables: object = {}): Promise<Answer> => {
    const { statusCode, headers, body } = await client.request({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    // The rest counts the requests of a process.
    const worker = String(headers['x-request-id']).slice(0, 8);
    return { status: statusCode, text: await body.text(), worker };
  };
}

type Send = ReturnType<typeof tConnection>;

/** Opens connections until there is one to each of two workers, which are none of the others. */
async function connectToBoth({ origin }: GatewayProcess, others: ReadonlySet<string> = new Set()): Promise<Send[]> {
  const found = new Map<string, Send>();
  while (found.size < 2) {
    const send = tConnection(origin);
    const { worker } = await send('{ __typename }');
    if (!others.has(worker)) found.set(worker, send);
  }
  return [...found.values()];
}

async function findWorkers(sends: readonly Send[]): Promise<Set<string>> {
  const answers = await Promise.all(sends.map((send) => send('{ __typename }')));
  return new Set(answers.map(({ worker }) => worker));
}

function readChildren({ process: { pid } }: GatewayProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

const logged = ({ process }: GatewayProcess, msg: string) => process.stderr().split(`"msg":"${msg}"`).length - 1;

it('two workers answer on one port as one gateway, and end with it', async () => {
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const gateway = await untilReady(
    tCommand(['start', '--workers', '2'], {
      ...noUpstreams,
      PORT: '0',
      METRICS_PORT: '0',
      BANK_DATA_URL: upstream.url,
      BANK_DATA_MONTHLY_ALLOWANCE: '10',
      CALLER_REQUESTS_PER_MINUTE: '200',
    }),
  );
  expect(readChildren(gateway)).toHaveLength(2);
  expect(gateway.process.stdout().match(/ready/g)).toHaveLength(1);
  const both = await connectToBoth(gateway);

  // The allowance is exact, and so is the limit of requests.
  const validations = Array.from({ length: 30 }, (_, index) =>
    both[index % 2]?.(`{ ibanValidation(iban: "${tIban(index)}") { valid } }`),
  );
  const texts = (await Promise.all(validations)).map((answer) => answer?.text ?? '');
  expect(texts.filter((text) => text.includes('"valid":true'))).toHaveLength(10);
  expect(texts.filter((text) => text.includes('UPSTREAM_ALLOWANCE_EXHAUSTED'))).toHaveLength(20);
  expect(upstream.calls).toHaveLength(10);
  const more = Array.from({ length: 250 }, (_, index) => both[index % 2]?.('{ __typename }'));
  const statuses = (await Promise.all(more)).map((answer) => answer?.status);
  const { value } = await scrape(gateway.metricsUrl);
  const permitted = value('ledgerquill_graphql_requests_total', { graphql_operation_type: 'query' }) ?? 0;
  expect(statuses).toContain(429);
  expect(permitted).toBeLessThanOrEqual(200);
  expect(permitted).toBeGreaterThanOrEqual(180);

  expect(value('ledgerquill_paid_calls_total', { service: 'bank-data' })).toBe(10);
  expect(value('ledgerquill_allowance_remaining', { service: 'bank-data' })).toBe(0);
  expect(value('ledgerquill_build_info')).toBe(1);
  expect(value('ledgerquill_store_up')).toBe(1);
  expect(value('ledgerquill_cache_entries', { cache: 'look_ups' })).toBe(10);
  expect(value('process_memory_usage_bytes')).toBeGreaterThan(100e6);

  gateway.process.kill('SIGUSR2');
  await vi.waitUntil(() => logged(gateway, 'the level of the log was changed') === 2, { timeout: 20_000 });

  gateway.process.kill('SIGTERM');
  expect(await gateway.process.ended).toEqual({ code: 0, signal: null });
  // Its process group.
  expect(() => process.kill(-Number(gateway.process.pid), 0)).toThrow('ESRCH');
  expect(logged(gateway, 'stopping: active requests are finished first')).toBe(1);
  expect(gateway.process.stderr()).not.toMatch(/"level":[56]0/);
});

/** Sends requests until it is stopped: three clients keep their connection until it is cut, and one opens a new one each time. */
function tLoad({ origin }: GatewayProcess) {
  let isOver = false;
  let answered = 0;
  const failures: unknown[] = [];
  const outcomes = new Set<string>();
  const client = async (isKept: boolean) => {
    let send = tConnection(origin);
    while (!isOver) {
      if (!isKept) send = tConnection(origin);
      const answer = await send('{ country(code: "DE") { code } }').catch(
        (error: unknown) => void failures.push(error),
      );
      if (!answer) continue;
      answered += 1;
      outcomes.add(`${answer.status} ${answer.text}`);
    }
  };
  const clients = Promise.all([true, true, true, false].map(client));
  return {
    async stop() {
      isOver = true;
      await clients;
      expect([...outcomes]).toEqual(['200 {"data":{"country":{"code":"DE"}}}']);
      expect(answered).toBeGreaterThan(20);
      return failures;
    },
  };
}

const quiet = { ...noUpstreams, WORKERS: '2', METRICS_PORT: '0', REQUEST_LOG_PER_SECOND: '0' };

it('replaces a worker that was killed, and only its open connections are cut', async () => {
  const gateway = await tGatewayProcess(quiet);
  const before = await findWorkers(await connectToBoth(gateway));
  const load = tLoad(gateway);
  process.kill(readChildren(gateway)[0] ?? 0, 'SIGKILL');
  while (before.has((await tConnection(gateway.origin)('{ __typename }')).worker));
  const after = await findWorkers(await connectToBoth(gateway));
  expect([...after].filter((worker) => before.has(worker))).toHaveLength(1);
  expect((await load.stop()).length).toBeLessThanOrEqual(4);
  expect(gateway.process.stderr()).toContain('"reason":"SIGKILL","msg":"a worker ended unexpectedly"');
});

it('has one level of the log, also in a worker that replaces another', async () => {
  const gateway = await tGatewayProcess(quiet);
  const message = 'the level of the log was changed';
  const until = (count: number) => vi.waitUntil(() => logged(gateway, message) === count, { timeout: 20_000 });
  gateway.process.kill('SIGUSR2');
  await until(2);
  process.kill(readChildren(gateway)[0] ?? 0, 'SIGKILL');
  await until(3);
  gateway.process.kill('SIGUSR2');
  await until(5);
  const lines = gateway.process.stderr().split('\n');
  const levels = lines.filter((line) => line.includes(message)).map((line) => JSON.parse(line).logLevel);
  expect(levels).toEqual(['debug', 'debug', 'debug', 'info', 'info']);
});

it('replaces all workers on SIGHUP, and no request fails', async () => {
  const gateway = await tGatewayProcess(quiet);
  const before = await findWorkers(await connectToBoth(gateway));
  const counted = async () =>
    (await scrape(gateway.metricsUrl)).value('ledgerquill_graphql_requests_total') ?? Number.NaN;
  const load = tLoad(gateway);
  const countedBefore = await counted();
  gateway.process.kill('SIGHUP');
  while (logged(gateway, 'all workers were restarted') === 0) {
    expect((await fetch(`${gateway.origin}/ready`, { headers: { connection: 'close' } })).status).toBe(200);
  }
  expect(await load.stop()).toEqual([]);
  const after = await findWorkers(await connectToBoth(gateway));
  expect([...after].filter((worker) => before.has(worker))).toEqual([]);
  expect(readChildren(gateway)).toHaveLength(2);
  // What the old workers have counted is not lost.
  expect(await counted()).toBeGreaterThan(countedBefore);
  gateway.process.kill('SIGTERM');
  expect(await gateway.process.ended).toEqual({ code: 0, signal: null });
});

it('continues with the other workers while a new one cannot start', async () => {
  const manifest = join(tFolder(), 'manifest.json');
  writeFileSync(manifest, '{}');
  const gateway = await tGatewayProcess({
    ...quiet,
    TRUSTED_DOCUMENTS: manifest,
    TRUSTED_DOCUMENTS_MODE: 'prefer',
  });
  const before = await findWorkers(await connectToBoth(gateway));
  const until = (isTrue: () => boolean) => vi.waitUntil(isTrue, { interval: 20, timeout: 20_000 });
  rmSync(manifest);
  gateway.process.kill('SIGHUP');
  await until(() => logged(gateway, 'a new worker did not start: the present workers continue') === 1);
  expect(await findWorkers(await connectToBoth(gateway))).toEqual(before);

  process.kill(readChildren(gateway)[0] ?? 0, 'SIGKILL');
  const failedStarts = () => gateway.process.stderr().split('"reason":"exit code 1"').length - 1;
  await until(() => failedStarts() === 2);
  writeFileSync(manifest, '{}');
  const after = await findWorkers(await connectToBoth(gateway));
  expect([...after].filter((worker) => before.has(worker))).toHaveLength(1);
});

it('pays once for an order that is sent to both workers under one key, and for a look-up', async () => {
  const gate = tGate();
  const service = await tRecordingEssayService({ write: () => gate.opened });
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const gateway = await tGatewayProcess({
    ...noUpstreams,
    WORKERS: '2',
    METRICS_PORT: '0',
    ESSAY_URL: service.url,
    BANK_DATA_URL: upstream.url,
  });
  const both = await connectToBoth(gateway);
  const orders = both.map((send) => send(orderMutation, orderVariables('Pens', 'form-1')));
  const activeRequests = async () => (await scrape(gateway.metricsUrl)).value('http_server_active_requests');
  while ((await activeRequests()) !== 2 || service.calls.length === 0);
  gate.open();
  const answers = await Promise.all(orders);
  const essays = answers.map(({ text }) => readEssay((JSON.parse(text) as { data: OrderData }).data));
  expect(new Set(answers.map(({ worker }) => worker)).size).toBe(2);
  expect(essays[0]?.text).toBe(service.calls[0]?.essay);
  expect(essays[1]).toEqual(essays[0]);
  expect(service.calls).toHaveLength(1);

  // The first worker stores an answer soon after it has sent it.
  let index = 0;
  do {
    index += 1;
    for (const send of both) await send(`{ ibanValidation(iban: "${tIban(index)}") { valid } }`);
  } while (upstream.calls.length === 2 * index);
  const calls = upstream.calls.length;
  for (const send of both) await send(`{ ibanValidation(iban: "${tIban(index)}") { valid } }`);
  expect(upstream.calls).toHaveLength(calls);
});

describe('a start with two workers fails once', () => {
  it('if a file of the configuration is missing', async () => {
    const env = { WORKERS: '2', PORT: '0', ...noUpstreams, TRUSTED_DOCUMENTS: '/missing' };
    const gateway = tScript('src/main.ts', env);
    expect(await gateway.ended).toEqual({ code: 1, signal: null });
    expect(gateway.stdout()).toBe('');
    expect(gateway.stderr()).toMatch(/^The configuration is invalid:\n {2}TRUSTED_DOCUMENTS: \/missing .*\n$/);
  });

  it('if its port is in use', async () => {
    const { url } = await tHttpServer(() => {});
    const { port } = new URL(url);
    const gateway = tScript('src/main.ts', { WORKERS: '2', PORT: port, ...noUpstreams });
    expect(await gateway.ended).toEqual({ code: 1, signal: null });
    const problem = 'another process listens there already; set PORT to a free port.';
    expect(gateway.stderr()).toBe(`Cannot listen on 127.0.0.1, port ${port}: ${problem}\n`);
  });
});
