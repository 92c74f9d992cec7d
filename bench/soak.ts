import { setTimeout as sleep } from 'node:timers/promises';
import { delayCausesOption, watchEventLoop } from './event-loop.ts';
import { startGateway } from './gateway-process.ts';
import { createClient, runLoad } from './load.ts';
import { watchMemory } from './memory-over-time.ts';
import { abortUpload, isExpected, mixedScenarios } from './mixed-scenarios.ts';
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
 * Checks that the gateway's memory does not grow after the first minute, and that its event loop does not stall, under a
 * mixed load with timeouts, disconnects, unique documents, and an outage of 2 s every 30 s.
 *   npx tsx bench/soak.ts [--seconds 60] [--rate 300] [--clients 60] [--cache-mb 2] [--live-heap]
 * Resident memory includes garbage that is not collected yet, mostly in the first minutes on a large machine. A leak shows
 * in the heap in use: --live-heap measures it at every mark, which forces full collections, lowers the resident memory
 * and opens files for the inspector; otherwise it is measured only at the end.
 * Mapped files include the embedded store, which grows with each new essay until ESSAY_KEEP_DAYS have passed.
 * The cache is small, so that it is full before the first measurement: filling it is not a leak.
 */

const seconds = readNumberOption('seconds', 60);
const perSecond = readNumberOption('rate', 300);
const clients = readNumberOption('clients', 60);
const cacheMb = readNumberOption('cache-mb', 2);
const isLiveHeapWanted = process.argv.includes('--live-heap');
/** First measurement, in seconds: after one minute, or a fifth of a short run. */
const baselineAt = Math.min(60, seconds / 5);
const tenths = Array.from({ length: 10 }, (_, tenth) => ((tenth + 1) * seconds) / 10);
const marks = [...new Set([baselineAt, ...tenths])].sort((a, b) => a - b);
const checks = createChecks();

print(describeMachine());
const upstream = await startUpstream();
const gateway = await startGateway(
  {
    ...upstream.env,
    BANK_DATA_TIMEOUT_MS: '500',
    ESSAY_TIMEOUT_MS: '500',
    CACHE_MAX_MB: String(cacheMb),
    METRICS_PORT: '0',
  },
  { nodeOptions: [delayCausesOption] },
);
const client = createClient(gateway.url, clients * 2);
const scenarios = [...mixedScenarios, { kind: 'client aborts its upload', share: 2, run: abortUpload(gateway.url) }];
// Spread evenly, so that every second has the same mix.
const mix = scenarios
  .flatMap((scenario) =>
    Array.from({ length: scenario.share }, (_, index) => ({ scenario, at: (index + 0.5) / scenario.share })),
  )
  .sort((a, b) => a.at - b.at)
  .map(({ scenario }) => scenario);

const outcomes = new Map<string, number>();
const times: number[] = [];
let requests = 0;
let calls = 0;
let isOver = false;
const filesBefore = gateway.openFiles();
const memory = watchMemory({
  gateway,
  marks,
  windowSeconds: Math.min(10, seconds / 10),
  requests: () => requests,
  isLiveHeapWanted,
});
const eventLoop = watchEventLoop(gateway);
const startedAt = performance.now();
await Promise.all([
  runLoad({ clients, perSecond, send: runNext, isOver: () => isOver }),
  simulateOutages(),
  memory.measureLiveHeaps(),
  // Half a second more, to include the last mark.
  sleep(seconds * 1_000 + 500).then(() => {
    isOver = true;
  }),
]);
memory.stop();
eventLoop.stop();
const ranSeconds = (performance.now() - startedAt) / 1_000;
calls += (await upstream.report()).arrivals.length;
await client.close();
// Keep-alive connections to the upstream close after some idle seconds.
await sleep(8_000);
const filesAfter = gateway.openFiles();
const overTime = await memory.formatWithIdle();
if ((await gateway.close()) !== 0) checks.fail('the gateway did not exit with 0');
await upstream.close();
printResults();
checks.print();

async function runNext(): Promise<void> {
  const number = requests++;
  const scenario = mix[number % mix.length];
  if (scenario === undefined) throw new Error('there are no scenarios');
  const start = performance.now();
  const outcome = await scenario.run(number, client).catch((error: Error) => error.message);
  times.push(performance.now() - start);
  const key = `${scenario.kind}\n${outcome}`;
  outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  if (!isExpected(outcome)) checks.fail(`${scenario.kind}: ${outcome}`);
}

async function simulateOutages(): Promise<void> {
  for (let second = 0; !isOver; second += 1) {
    await sleep(1_000);
    if (second % 30 === 20) calls += (await upstream.setBehavior('fail')).arrivals.length;
    if (second % 30 === 22) calls += (await upstream.setBehavior(null)).arrivals.length;
  }
}

function printResults(): void {
  const [first, last, max] = [memory.rssAt(baselineAt), memory.rssAt(seconds), memory.maxRssAfter(baselineAt)];
  const [firstHeap, lastHeap] = [memory.heapAt(baselineAt), memory.heapAt(seconds)];
  const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
  const growth = (rss: number) => `${formatTenths(rss)}, ${percent(rss / first)}`;
  print('');
  print(overTime);
  print(
    formatTable(
      ['', 'measured', 'target'],
      [
        ['requests', `${requests} in ${ranSeconds.toFixed(0)} s, ${(requests / ranSeconds).toFixed(0)}/s`, ''],
        ['calls upstream', calls, ''],
        ['p50, p99, max ms', [0.5, 0.99, 1].map((share) => formatTenths(percentile(times, share))).join(', '), ''],
        ...eventLoop.rows(),
        [`RSS MB after ${baselineAt} s`, formatTenths(first), ''],
        [`RSS MB after ${seconds} s, growth`, growth(last), 'at most 10 %'],
        ['maximum RSS MB between, growth', growth(max), ''],
        [
          `heap and buffers MB after ${baselineAt} s and ${seconds} s, growth`,
          `${formatTenths(firstHeap)}, ${formatTenths(lastHeap)}, ${percent(lastHeap / firstHeap)}`,
          '',
        ],
        ['open files before and after', `${filesBefore?.all}, ${filesAfter?.all}`, 'the same'],
        ['sockets before and after', `${filesBefore?.sockets}, ${filesAfter?.sockets}`, 'the same'],
        ['times the breaker opened', countLog('circuit breaker opened'), ''],
        ['unexpected errors logged', countLog('unexpected error'), '0'],
      ],
    ),
  );
  print(formatTable(['scenario', 'outcome', 'times'], formatOutcomes()));
  for (const { msg, err } of gateway.log.filter(({ level }) => level >= 50)) {
    checks.fail(`logged: ${msg} ${err?.stack ?? ''}`);
  }
}

function formatOutcomes(): (string | number)[][] {
  const order = scenarios.map(({ kind }) => kind);
  return [...outcomes]
    .map(([key, times]) => [...key.split('\n'), times])
    .sort((a, b) => order.indexOf(String(a[0])) - order.indexOf(String(b[0])) || Number(b[2]) - Number(a[2]));
}

function countLog(beginning: string): number {
  return gateway.log.filter(({ msg }) => msg?.startsWith(beginning)).length;
}
