import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { readCpuS, startGateway } from './gateway-process.ts';
import {
  createChecks,
  describeMachine,
  formatTable,
  formatTenths,
  percentile,
  print,
  readNumberOption,
} from './report.ts';
import { scriptedIban } from './scripted-ibans.ts';
import { startUpstream } from './upstream.ts';

/*
 * One caller takes what it can get: 2,000 orders, 1,200 connections that wait for one of them, answers that it does not read, and two
 * slow bodies. Measures the times of a known query of another caller, and of /health, before and meanwhile.
 *   npx tsx bench/greedy-caller.ts [--seconds 10] [--built]
 */

/** What a caller has taken. */
export interface Taken {
  /** Each waits for the same order. */
  waiting: readonly Socket[];
  /** Each has a response of 7 MB, of which nothing is read. */
  unread: readonly Socket[];
  /** Each has sent a part of a body. */
  slow: readonly Socket[];
  close(): void;
}

export const counts = { orders: 2_000, waiting: 1_200, unread: 12, slow: 2 };

/** Takes it in this order. The essay service must not answer meanwhile. */
export async function takeAll(origin: string, authorization: string, sizes = counts): Promise<Taken> {
  await startOrders(origin, authorization, sizes.orders);
  const aliases = Array.from({ length: 100 }, (_, index) => `d${index}: description`).join(' ');
  const large = JSON.stringify({ query: `{ essayOrders(first: 7) { nodes { input { ${aliases} } } } }` });
  const joined = JSON.stringify({ query: orderMutation, variables: { input: inputOf(0, sizes.orders) } });
  const unread = await open(sizes.unread, formatPost(authorization, large), false);
  const slow = await open(sizes.slow, formatPost(authorization, '{"query":', 500_000), true);
  const waiting = await open(sizes.waiting, formatPost(authorization, joined), true);
  const all = [...waiting, ...unread, ...slow];
  return { waiting, unread, slow, close: () => all.forEach((socket) => void socket.destroy()) };

  async function open(count: number, request: string, isRead: boolean): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
      sockets.push(isRead ? socket.resume() : socket.pause());
      await once(socket, 'connect');
      socket.write(request);
    }
    return sockets;
  }
}

/** An HTTP request to /graphql. @param length announces more than the body has */
export function formatPost(authorization: string, body: string, length = Buffer.byteLength(body)): string {
  const headers = [`authorization: ${authorization}`, 'content-type: application/json', `content-length: ${length}`];
  return `POST /graphql HTTP/1.1\r\nhost: localhost\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

const orderMutation = 'mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) { __typename } }';
const startMutation = 'mutation ($input: StartEssayInput!) { startEssay(input: $input) { __typename } }';

/** The last ones are long: the list of orders begins with them. */
function inputOf(number: number, orders: number) {
  const length = number > orders - 10 ? 10_000 : 20;
  const description = `Pens, ${number}. `.padEnd(length, 'The nib and its feed. ');
  return { description, wordCount: 100, idempotencyKey: `order-${number}` };
}

async function startOrders(origin: string, authorization: string, orders: number): Promise<void> {
  const pool = new Pool(origin, { connections: 8, pipelining: 1 });
  const headers = { authorization, 'content-type': 'application/json' };
  let started = 0;
  const start = async () => {
    while (started < orders) {
      started += 1;
      const body = JSON.stringify({ query: startMutation, variables: { input: inputOf(started, orders) } });
      const response = await pool.request({ path: '/graphql', method: 'POST', headers, body });
      const text = await response.body.text();
      if (!text.includes('"EssayOrder"')) throw new Error(`the order was not started: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, start));
  await pool.close();
}

async function measure(): Promise<void> {
  const seconds = readNumberOption('seconds', 10);
  const checks = createChecks();
  print(describeMachine());
  const upstream = await startUpstream();
  const [greedy, other] = ['greedy', 'other'].map((name) => ({
    name,
    key: `lq_key-of-the-${name}-caller-in-benchmarks`,
  }));
  if (!greedy || !other) throw new Error('there are two callers');
  const keys = [greedy, other].map(
    ({ name, key }) => `${name}:${createHash('sha256').update(key).digest('hex')}:bank-data+essays`,
  );
  const gateway = await startGateway(
    {
      BANK_DATA_URL: upstream.url,
      BANK_DATA_API_KEY: 'bench-bank-data',
      ESSAY_URL: upstream.url,
      ESSAY_API_KEY: 'bench-essays',
      ESSAY_ORDERS_PER_CALLER: String(counts.orders),
      GATEWAY_API_KEYS: keys.join(),
    },
    { isBuilt: process.argv.includes('--built') },
  );
  const { origin } = new URL(gateway.url);
  const body = JSON.stringify({ query: `{ ibanValidation(iban: "${scriptedIban('answer', 1)}") { valid } }` });
  const headers = { authorization: `Bearer ${other.key}`, 'content-type': 'application/json' };
  const known = () => timeOf(fetch(gateway.url, { method: 'POST', headers, body }));
  const health = () => timeOf(fetch(`${origin}/health`, { headers: { connection: 'close' } }));

  for (let count = 0; count < 500; count += 1) await known();
  const rows = [await run('alone')];
  await upstream.setBehavior('hang');
  const taken = await takeAll(origin, `Bearer ${greedy.key}`);
  rows.push(await run('beside the greedy caller'));
  const open = taken.waiting.filter(({ closed }) => !closed).length;
  print(formatTable(['', 'queries', 'p50 ms', 'p99 ms', 'max ms', 'max ms of /health', 'CPU ms per query'], rows));
  print(
    `Of ${counts.waiting} connections that wait for one order, ${open} are open; RSS ${gateway.memory()?.rss.toFixed(0)} MB`,
  );
  taken.close();
  await gateway.kill();
  await upstream.close();
  checks.print();

  async function timeOf(response: Promise<Response>): Promise<number> {
    const start = performance.now();
    const { status, text } = await response.then(async (one) => ({ status: one.status, text: await one.text() }));
    if (status !== 200 || text.includes('"errors"')) checks.fail(`status ${status}: ${text}`);
    return performance.now() - start;
  }

  async function run(name: string): Promise<(string | number)[]> {
    const times: number[] = [];
    const healthTimes: number[] = [];
    const startedCpuS = readCpuS(gateway.pid);
    for (const endsAt = performance.now() + seconds * 1_000; performance.now() < endsAt; await sleep(5)) {
      times.push(await known());
      if (times.length % 10 === 0) healthTimes.push(await health());
    }
    const p99 = percentile(times, 0.99);
    if (p99 > maxP99Ms) checks.fail(`${name}, p99 is ${p99.toFixed(0)} ms; it must be at most ${maxP99Ms} ms`);
    const figures = [percentile(times, 0.5), p99, Math.max(...times), Math.max(...healthTimes)];
    const cpuMs = ((readCpuS(gateway.pid) - startedCpuS) * 1_000) / times.length;
    return [name, times.length, ...[...figures, cpuMs].map(formatTenths)];
  }
}

const maxP99Ms = 50;

if (process.argv[1] === fileURLToPath(import.meta.url)) await measure();
