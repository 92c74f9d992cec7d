import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Dispatcher, Pool } from 'undici';
import { formatTable, median, print } from './report.ts';
import { describeIban, scriptedIban } from './scripted-ibans.ts';

/*
 * The CPU time around one upstream call: precheck, cache, client and allowance, beside a bare undici call that parses
 * the same answer. Each call has an IBAN of its own.
 *   npx tsx bench/upstream-path.ts [rounds] [calls per round] [callers]
 */

const modules = [
  'async/signal',
  'bank-data/cache',
  'bank-data/look-up-cache',
  'bank-data/precheck',
  'bank-data/rest/rest-bank-data',
  'request-context',
  'stores/lmdb-store',
  'telemetry/log',
  'telemetry/log-events',
  'telemetry/redact',
  'upstream/allowance/allowance',
  'upstream/upstream-client',
  'upstream/bulkhead',
] as const;

// Compiled by esbuild: tsx adds a call to every closure that is created.
const compiled = fileURLToPath(new URL('../node_modules/.cache/upstream-path/', import.meta.url));
if (process.argv[2] !== 'upstream') {
  await build({
    entryPoints: modules.map((name) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))),
    outbase: fileURLToPath(new URL('../src', import.meta.url)),
    outdir: compiled,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
}
const load = async <Module>(name: (typeof modules)[number]): Promise<Module> => import(`${compiled}${name}.js`);
const { AbortableSignal } = await load<typeof import('../src/async/signal.ts')>('async/signal');
const { withCache } = await load<typeof import('../src/bank-data/cache.ts')>('bank-data/cache');
const { createLookUpCache } = await load<typeof import('../src/bank-data/look-up-cache.ts')>('bank-data/look-up-cache');
const { withPrecheck } = await load<typeof import('../src/bank-data/precheck.ts')>('bank-data/precheck');
const { createRestBankData } = await load<typeof import('../src/bank-data/rest/rest-bank-data.ts')>(
  'bank-data/rest/rest-bank-data',
);
const { createBulkhead } = await load<typeof import('../src/upstream/bulkhead.ts')>('upstream/bulkhead');
const { createRequestContext } = await load<typeof import('../src/request-context.ts')>('request-context');
const { createLmdbStore } = await load<typeof import('../src/stores/lmdb-store.ts')>('stores/lmdb-store');
const { createLogEvents } = await load<typeof import('../src/telemetry/log-events.ts')>('telemetry/log-events');
const { createLog } = await load<typeof import('../src/telemetry/log.ts')>('telemetry/log');
const { createSecretRedaction } = await load<typeof import('../src/telemetry/redact.ts')>('telemetry/redact');
const { createAllowance } =
  await load<typeof import('../src/upstream/allowance/allowance.ts')>('upstream/allowance/allowance');
const { createUpstreamClient } =
  await load<typeof import('../src/upstream/upstream-client.ts')>('upstream/upstream-client');

const [rounds = 5, callsPerRound = 20_000, callers = 32] = process.argv.slice(2).map(Number);
class BareHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (iban: string) => void;
  readonly #reject: (error: Error) => void;
  #text = '';

  constructor(resolve: (iban: string) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }
  onRequestStart(): void {}
  onResponseStart(): void {}
  onResponseData(_: unknown, chunk: Buffer): void {
    this.#text += chunk.toString();
  }
  onResponseEnd(): void {
    this.#resolve(JSON.parse(this.#text).iban);
  }
  onResponseError(_: unknown, error: Error): void {
    this.#reject(error);
  }
}

if (process.argv[2] === 'upstream') serve();
else await measure();

async function measure(): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['upstream'], { execArgv: ['--import', 'tsx'] });
  const [url] = (await once(child, 'message')) as [string];
  const dataDir = mkdtempSync(join(tmpdir(), 'ledgerquill-bench-'));
  const bare = createBareCall(url);
  const gateway = createGatewayCall(url, dataDir);
  const kinds = { 'undici.request': bare.request, 'undici.dispatch': bare.dispatch, 'upstream path': gateway.call };
  const times = new Map<string, number[]>();
  let account = 0;
  const nextIban = () => scriptedIban('answer', account++);

  for (let round = -1; round < rounds; round += 1) {
    for (const [kind, call] of Object.entries(kinds)) {
      const ibans = Array.from({ length: callsPerRound }, nextIban);
      const before = process.cpuUsage();
      await callAll(ibans, call);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) times.set(kind, [...(times.get(kind) ?? []), (user + system) / callsPerRound]);
    }
  }

  const limit = median(times.get('undici.dispatch') ?? []);
  const rows = [...times].map(([kind, values]) => [
    kind,
    median(values).toFixed(1),
    (median(values) - limit).toFixed(1),
  ]);
  print(formatTable(['CPU per call', 'µs', 'above dispatch'], rows));
  await Promise.all([bare.close(), gateway.close()]);
  rmSync(dataDir, { recursive: true, force: true });
  child.disconnect();
}

async function callAll(ibans: string[], call: (iban: string) => Promise<string>): Promise<void> {
  let next = 0;
  const callInTurn = async () => {
    for (let iban = ibans[next++]; iban !== undefined; iban = ibans[next++]) {
      if ((await call(iban)) !== iban) throw new Error('the answer is about another IBAN');
    }
  };
  await Promise.all(Array.from({ length: callers }, callInTurn));
}

/** What any program must do: one call, and its parsed answer. */
function createBareCall(url: string) {
  const pool = new Pool(url, { connections: callers });
  const path = (iban: string) => `/bank_data/iban_validate?iban_number=${iban}`;
  const headers = { apikey: 'benchmark-key' };
  return {
    request: async (iban: string) => {
      const { body } = await pool.request({ path: path(iban), method: 'GET', headers });
      return ((await body.json()) as { iban: string }).iban;
    },
    dispatch: (iban: string) =>
      new Promise<string>((resolve, reject) => {
        pool.dispatch({ path: path(iban), method: 'GET', headers }, new BareHandler(resolve, reject));
      }),
    close: () => pool.destroy(),
  };
}

/** All that the gateway puts around it. */
function createGatewayCall(baseUrl: string, dataDir: string) {
  const secrets = ['benchmark-key', 'another-benchmark-key', 'bank-data.example', 'essays.example'];
  const events = createLogEvents(createLog({ level: 'info', redact: (text) => text }));
  const store = createLmdbStore({ folder: dataDir });
  const allowance = createAllowance({ service: 'bank-data', limit: null, store, replicas: null, events });
  const client = createUpstreamClient({
    service: 'bank-data',
    baseUrl,
    headers: { apikey: 'benchmark-key', accept: 'application/json' },
    timeoutMs: 10_000,
    maxResponseBytes: 1_000_000,
    maxConcurrency: callers,
    maxQueue: 2_000,
    backoffMs: 100,
    allowance,
    redactSecrets: createSecretRedaction(secrets),
    events,
  });
  const cache = createLookUpCache({
    turns: createBulkhead({ maxConcurrency: callers, maxQueue: 0 }),
    freshMs: 86_400_000,
    maxAgeMs: 86_400_000,
    maxBytes: 64_000_000,
    events,
  });
  const bankData = withPrecheck(withCache(createRestBankData(client, events, { report() {} }), cache));
  return {
    async call(iban: string): Promise<string> {
      const { ibanData, valid } = await bankData.validateIban(iban, createRequestContext(new AbortableSignal()));
      return valid ? `${ibanData?.countryCode}${ibanData?.checksum}${ibanData?.bban}` : '';
    },
    async close(): Promise<void> {
      await client.close();
      await allowance.flush();
      await store.close();
    },
  };
}

/** The upstream, as a child process. */
function serve(): void {
  const server = createServer((request, response) => {
    const iban = request.url?.split('=')[1] ?? '';
    const body = Buffer.from(JSON.stringify(describeIban(iban)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  }).listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  process.on('disconnect', () => {
    server.close();
    server.closeAllConnections();
  });
}
