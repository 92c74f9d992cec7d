import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatTable, percentile, print } from './report.ts';
import { scriptedIban } from './scripted-ibans.ts';

/*
 * How many promises one request creates in the gateway: the length of its way, whatever the machine.
 *   npm run build && npx tsx bench/promises.ts [dist/main.js of another version]
 */

const requestsPerKind = 30;
const ibanQuery = 'query ($iban: String!) { ibanValidation(iban: $iban) { valid bankData { name } } }';
const essayMutation = `mutation ($key: ID!) {
  generateEssay(input: { description: "Fountain pens", wordCount: 100, idempotencyKey: $key }) { __typename }
}`;

const upstream = createServer((request, response) => {
  const isEssay = request.method === 'POST';
  request.resume().on('end', () => {
    const body = isEssay ? { essay: 'An essay.' } : { valid: true, bank_data: { name: 'A bank' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const dataDir = mkdtempSync(join(tmpdir(), 'ledgerquill-bench-'));
const gateway = spawn(
  process.execPath,
  ['--import', 'tsx', '--import', fileURLToPath(new URL('promise-counter.ts', import.meta.url)), mainFile()],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: dataDir,
      BANK_DATA_URL: upstreamUrl,
      BANK_DATA_API_KEY: 'bench-key',
      ESSAY_URL: upstreamUrl,
      ESSAY_API_KEY: 'bench-key',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  },
);

try {
  const url = await readUrl(gateway);
  let serial = 0;
  const cold = () => {
    serial += 1;
    return { query: ibanQuery, variables: { iban: scriptedIban('answer', serial) } };
  };
  const kinds: [string, () => object][] = [
    ['cached IBAN', () => ({ query: ibanQuery, variables: { iban: scriptedIban('answer', 1) } })],
    ['cold IBAN', cold],
    ['essay with a key', () => ({ query: essayMutation, variables: { key: randomUUID() } })],
    ['{ __typename }', () => ({ query: '{ __typename }' })],
  ];
  await send(url, cold());
  const rows: [string, number][] = [];
  for (const [name, createBody] of kinds) {
    const counts: number[] = [];
    for (let round = 0; round < requestsPerKind; round += 1) {
      const before = await readCount(gateway);
      await send(url, createBody());
      counts.push((await readCount(gateway)) - before);
    }
    rows.push([name, percentile(counts, 0.5)]);
  }
  print(formatTable(['request', 'promises (median)'], rows));
} finally {
  // The channel would keep the process alive.
  gateway.disconnect();
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  upstream.close();
  rmSync(dataDir, { recursive: true, force: true });
}

function mainFile(): string {
  return process.argv[2] ?? fileURLToPath(new URL('../dist/main.js', import.meta.url));
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  for await (const chunk of stdout ?? []) {
    const url = /http:\/\/\S+\/graphql/.exec(String(chunk))?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('the gateway did not start');
}

async function readCount(child: ChildProcess): Promise<number> {
  child.send('count');
  const [count] = await once(child, 'message');
  return count as number;
}

async function send(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const { data, errors } = (await response.json()) as { data?: object; errors?: unknown };
  if (!data || errors) throw new Error(`the gateway answered ${JSON.stringify({ data, errors })}`);
}
