import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
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

  gateway.process.kill('SIGTERM');
  expect(await gateway.process.ended).toEqual({ code: 0, signal: null });
  // Its process group.
  expect(() => process.kill(-Number(gateway.process.pid), 0)).toThrow('ESRCH');
  expect(logged(gateway, 'stopping: active requests are finished first')).toBe(1);
  expect(gateway.process.stderr()).not.toMatch(/"level":[56]0/);
});

it('a killed worker is replaced, and all are replaced on SIGHUP while no request fails', async () => {
  const manifest = join(tFolder(), 'manifest.json');
  writeFileSync(manifest, '{}');
  const documents = { TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_MODE: 'prefer' };
  const gateway = await tGatewayProcess({
    WORKERS: '2',
    METRICS_PORT: '0',
    REQUEST_LOG_PER_SECOND: '0',
    ...noUpstreams,
    ...documents,
  });
  const first = await findWorkers(await connectToBoth(gateway));

  let isOver = false;
  let answered = 0;
  const failures: string[] = [];
  const outcomes = new Set<string>();
  const newConnection = () => tConnection(gateway.origin);
  const client = async (isKept: boolean) => {
    let send = newConnection();
    while (!isOver) {
      if (!isKept) send = newConnection();
      const answer = await send('{ country(code: "DE") { code } }').catch((error: Error) => error);
      if (answer instanceof Error) {
        failures.push(String(answer.cause ?? answer));
        continue;
      }
      answered += 1;
      outcomes.add(`${answer.status} ${answer.text}`);
    }
  };
  const load = Promise.all([true, true, true, false].map(client));

  process.kill(readChildren(gateway)[0] ?? 0, 'SIGKILL');
  const survivor = new Set<string>();
  while (survivor.size < 2) {
    const { worker } = await newConnection()('{ __typename }');
    if (!first.has(worker)) survivor.add(worker).add('a new one');
  }
  expect(failures.length).toBeLessThanOrEqual(4);
  expect(gateway.process.stderr()).toContain('"reason":"SIGKILL","msg":"a worker ended unexpectedly"');

  failures.length = 0;
  const { value: before } = await scrape(gateway.metricsUrl);
  const second = await findWorkers(await connectToBoth(gateway));
  gateway.process.kill('SIGHUP');
  await connectToBoth(gateway, new Set([...first, ...second]));
  while (logged(gateway, 'all workers were restarted') === 0) await newConnection()('{ __typename }');
  isOver = true;
  await load;
  expect(failures).toEqual([]);
  expect([...outcomes]).toEqual(['200 {"data":{"country":{"code":"DE"}}}']);
  expect(answered).toBeGreaterThan(100);
  // What the old ones have counted is not lost.
  const { value: after } = await scrape(gateway.metricsUrl);
  const requests = 'ledgerquill_graphql_requests_total';
  expect(after(requests)).toBeGreaterThan(before(requests) ?? Number.NaN);

  // A new worker that cannot start does not end the others.
  const third = await findWorkers(await connectToBoth(gateway));
  rmSync(manifest);
  gateway.process.kill('SIGHUP');
  const isRefused = () => logged(gateway, 'a new worker did not start: the present workers continue') === 1;
  while (!isRefused()) await newConnection()('{ __typename }');
  expect(await findWorkers(await connectToBoth(gateway))).toEqual(third);
  expect(readChildren(gateway)).toHaveLength(2);
  gateway.process.kill('SIGTERM');
  expect(await gateway.process.ended).toEqual({ code: 0, signal: null });
});

it('pays once for an order that is sent to both workers under one key', async () => {
  const gate = tGate();
  const service = await tRecordingEssayService({ write: () => gate.opened });
  const gateway = await tGatewayProcess({
    ...noUpstreams,
    WORKERS: '2',
    METRICS_PORT: '0',
    ESSAY_URL: service.url,
  });
  const orders = (await connectToBoth(gateway)).map((send) => send(orderMutation, orderVariables('Pens', 'form-1')));
  const activeRequests = async () => (await scrape(gateway.metricsUrl)).value('http_server_active_requests');
  while ((await activeRequests()) !== 2 || service.calls.length === 0);
  gate.open();
  const answers = await Promise.all(orders);
  const essays = answers.map(({ text }) => readEssay((JSON.parse(text) as { data: OrderData }).data));
  expect(new Set(answers.map(({ worker }) => worker)).size).toBe(2);
  expect(essays[0]?.text).toBe(service.calls[0]?.essay);
  expect(essays[1]).toEqual(essays[0]);
  expect(service.calls).toHaveLength(1);
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
