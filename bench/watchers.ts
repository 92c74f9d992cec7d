import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { delayCausesOption, watchEventLoop } from './event-loop.ts';
import { startGateway } from './gateway-process.ts';
import { measureLiveHeap } from './inspector.ts';
import { createClient, runLoad } from './load.ts';
import {
  createChecks,
  describeMachine,
  formatTable,
  formatTenths,
  percentile,
  print,
  readNumberOption,
} from './report.ts';
import { startUpstream } from './upstream.ts';

/*
 * Watches orders that change every second, and measures the memory of the gateway and, beside the watchers, the times of a known
 * query. The orders wait in a queue from which one is sent each second, so that the positions of all change. One more watcher
 * never reads.
 *   npx tsx bench/watchers.ts [--watchers 10000] [--orders 100] [--seconds 20] [--rate 100] [--processes 2] [--built]
 * Each watcher is an open file in the gateway, and one in a client process: `ulimit -n` must allow them.
 */

const watchers = readNumberOption('watchers', 10_000);
const orders = readNumberOption('orders', 100);
const seconds = readNumberOption('seconds', 20);
const perSecond = readNumberOption('rate', 100);
const processes = readNumberOption('processes', 2);
const checks = createChecks();

print(describeMachine());
const upstream = await startUpstream({ latencyMs: 1_000 });
const gateway = await startGateway(
  {
    ...upstream.env,
    ESSAY_ORDERS_RUNNING: '1',
    ESSAY_ORDERS_PER_CALLER: '100000',
    MAX_CONNECTIONS: String(watchers + 1_000),
    METRICS_PORT: '0',
  },
  { isBuilt: process.argv.includes('--built'), nodeOptions: [delayCausesOption] },
);
const client = createClient(gateway.url, 8);
const port = Number(new URL(gateway.url).port);

// More orders than seconds of this run are before those that are watched.
const before = 120 + 2 * seconds;
const ids: string[] = [];
for (let number = 0; number < before + orders; number += 1) ids.push(await startOrder(number));
const watched = ids.slice(before);
await ask();
await measure('warm-up');
const alone = await measure('no watchers');

const children = Array.from({ length: processes }, () =>
  fork(fileURLToPath(new URL('watchers-process.ts', import.meta.url)), [String(port), String(watchers / processes)], {
    execArgv: ['--import', 'tsx'],
  }),
);
await Promise.all(children.map((child) => once(child, 'message')));
const connectedAt = performance.now();
const opened = children.map((child) => once(child, 'message'));
for (const child of children) child.send({ ids: watched });
await Promise.all(opened);
print(`${watchers} watchers were connected in ${formatTenths((performance.now() - connectedAt) / 1_000)} s`);
const silent = connect(port, '127.0.0.1').pause();
silent.write(subscribeTo(watched[0] ?? ''));
const counted = await count();
const eventLoop = watchEventLoop(gateway);
// Measuring the heap delays the event loop.
const beside = await measure(`${watchers} watchers`, eventLoop.stop);
const events = (await count()) - counted;
if (events < watchers * seconds * 0.5) checks.fail(`the watchers received only ${events} events in ${seconds} s`);
const missed = await countStates(silent);
for (const child of children) child.disconnect();
await Promise.all(children.map((child) => once(child, 'exit')));
await sleep(3_000);
const after = await measure('after them');

const perWatcher = (memory: keyof typeof beside) =>
  `${formatTenths(((Number(beside[memory]) - Number(alone[memory])) * 1_000) / watchers)} kB`;
const rows = [alone, beside, after].map(({ name, heapMb, rssMb, p50, p99, max }) => [
  name,
  ...[heapMb, rssMb, p50, p99, max].map(formatTenths),
]);
print(formatTable(['', 'live heap MB', 'RSS MB', 'p50 ms', 'p99 ms', 'max ms'], rows));
print(`Per watcher: ${perWatcher('heapMb')} of live heap, ${perWatcher('rssMb')} of RSS`);
print(formatTable(['beside the watchers', 'measured', ''], eventLoop.rows()));
print(`The watcher that read nothing has received ${missed} states`);
print(`Events per second: ${(events / seconds).toFixed(0)}`);
await client.close();
for (const { msg } of gateway.log.filter(({ level }) => level >= 50)) checks.fail(`logged: ${msg}`);
await gateway.kill();
await upstream.close();
checks.print();

async function startOrder(number: number): Promise<string> {
  // That of the silent watcher is long, so that its results do not fit into the buffers of the system.
  const length = number === before ? 9_000 : 70;
  const description = `${number}: `.padEnd(length, 'The fountain pen, its reservoir, its feed and its nib. ');
  const input = `{ description: "${description}", wordCount: 100, idempotencyKey: "order-${number}" }`;
  const { data } = await client.send(`mutation { startEssay(input: ${input}) { ... on EssayOrder { id } } }`);
  return (data as { startEssay: { id: string } }).startEssay.id;
}

function subscribeTo(id: string): string {
  const inputs = Array.from({ length: 50 }, (_, index) => `input${index}: input { description }`);
  const query = `subscription { essayOrder(id: "${id}") { ${inputs.join(' ')} state { __typename } } }`;
  const body = JSON.stringify({ query });
  const headers = ['content-type: application/json', 'accept: text/event-stream', `content-length: ${body.length}`];
  return `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

/** The states that a watcher finds when it begins to read. */
async function countStates(socket: Socket): Promise<number> {
  let states = 0;
  socket.on('data', (data) => {
    states += String(data).split('event: next').length - 1;
  });
  socket.resume();
  await sleep(500);
  socket.destroy();
  if (states === 0 || states > seconds - 2) checks.fail(`the watcher that read nothing was sent ${states} states`);
  return states;
}

async function ask(): Promise<void> {
  const { data } = await client.send(
    '{ ibanValidation(iban: "DE89370400440532013000") { valid bankData { name bic } } }',
  );
  if (!data) checks.fail('the known query has no answer');
}

/** Of all watchers so far. */
async function count(): Promise<number> {
  const counts = await Promise.all(
    children.map(async (child) => {
      child.send({ count: true });
      const [message] = (await once(child, 'message')) as [{ events: number; ended: number }];
      if (message.ended > 0) checks.fail(`${message.ended} watches have ended`);
      return message.events;
    }),
  );
  return counts.reduce((sum, events) => sum + events, 0);
}

async function measure(name: string, onLoaded = () => {}) {
  const times: number[] = [];
  const endsAt = performance.now() + seconds * 1_000;
  await runLoad({
    clients: 4,
    perSecond,
    isOver: () => performance.now() > endsAt,
    async send() {
      const start = performance.now();
      await ask();
      times.push(performance.now() - start);
    },
  });
  onLoaded();
  const rssMb = gateway.memory()?.rss ?? Number.NaN;
  const heapMb = await gateway.inspect(measureLiveHeap);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => percentile(times, share)) as [number, number, number];
  return { name, heapMb, rssMb, p50, p99, max };
}
