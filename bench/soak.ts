import { setTimeout as sleep } from 'node:timers/promises';
import { createVerdict, describeMachine, formatTable, percentile, print, readNumberOption } from './figures.ts';
import { startGateway } from './gateway-process.ts';
import { createClient, keepAsking } from './load.ts';
import { formatMb, watchMemory } from './memory-over-time.ts';
import { breakOff, isRight, mixedQuestions } from './mixed-questions.ts';
import { startUpstream } from './upstream.ts';

/*
 * Whether the gateway's memory stays what it was after the first minute, under a mixed load with time-outs, hang-ups,
 * documents that are all different, and an outage of 2 s in every 30 s.
 *   npx tsx bench/soak.ts [--seconds 60] [--rate 300] [--callers 60] [--cache-mb 2] [--live-heap]
 * Resident memory holds garbage that nobody had a reason to collect yet, most of all in the first minutes of a process
 * on a large machine. Whether anything leaks shows in the heap in use: --live-heap has it measured at every mark, at
 * the price of full collections that lower the resident memory and of the inspector's own files; else it is measured after the end only.
 * The cache is small, so that it is full before memory is first looked at: filling it is no leak.
 */

const seconds = readNumberOption('seconds', 60);
const perSecond = readNumberOption('rate', 300);
const callers = readNumberOption('callers', 60);
const cacheMb = readNumberOption('cache-mb', 2);
const isLiveHeapWanted = process.argv.includes('--live-heap');
/** When memory is looked at first, in seconds: after the first minute, or a fifth of a short run. */
const baselineAt = Math.min(60, seconds / 5);
const tenths = Array.from({ length: 10 }, (_, tenth) => ((tenth + 1) * seconds) / 10);
const marks = [...new Set([baselineAt, ...tenths])].sort((a, b) => a - b);
const verdict = createVerdict();

print(describeMachine());
const upstream = await startUpstream();
const gateway = await startGateway({
  BANK_DATA_URL: upstream.url,
  BANK_DATA_API_KEY: 'bench-bank-data',
  BANK_DATA_TIMEOUT_MS: '500',
  ESSAY_URL: upstream.url,
  ESSAY_API_KEY: 'bench-essays',
  ESSAY_TIMEOUT_MS: '500',
  CACHE_MAX_MB: String(cacheMb),
});
const client = createClient(gateway.url, callers * 2);
const questions = [...mixedQuestions, { kind: 'client breaks off its request', share: 2, ask: breakOff(gateway.url) }];
// Spread evenly, so that every second has the same mix.
const mix = questions
  .flatMap((question) =>
    Array.from({ length: question.share }, (_, index) => ({ question, at: (index + 0.5) / question.share })),
  )
  .sort((a, b) => a.at - b.at)
  .map(({ question }) => question);

const outcomes = new Map<string, number>();
const times: number[] = [];
let asked = 0;
let calls = 0;
let isOver = false;
const filesBefore = gateway.openFiles();
const memory = watchMemory({
  gateway,
  marks,
  windowSeconds: Math.min(10, seconds / 10),
  questions: () => asked,
  isLiveHeapWanted,
});
const startedAt = performance.now();
await Promise.all([
  keepAsking({ callers, perSecond, ask: askNext, isOver: () => isOver }),
  haveOutages(),
  memory.measureLiveHeaps(),
  // Half a second more, so that the last mark is within.
  sleep(seconds * 1_000 + 500).then(() => {
    isOver = true;
  }),
]);
memory.stop();
const ranSeconds = (performance.now() - startedAt) / 1_000;
calls += (await upstream.report()).arrivals.length;
await client.close();
// Kept connections to the upstream close after some idle seconds.
await sleep(8_000);
const filesAfter = gateway.openFiles();
const overTime = await memory.formatWithIdle();
if ((await gateway.close()) !== 0) verdict.wrong('the gateway did not end with 0');
await upstream.close();
tell();
verdict.print();

async function askNext(): Promise<void> {
  const number = asked++;
  const question = mix[number % mix.length];
  if (question === undefined) throw new Error('there are no questions');
  const start = performance.now();
  const outcome = await question.ask(number, client).catch((error: Error) => error.message);
  times.push(performance.now() - start);
  const key = `${question.kind}\n${outcome}`;
  outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  if (!isRight(outcome)) verdict.wrong(`${question.kind}: ${outcome}`);
}

async function haveOutages(): Promise<void> {
  for (let second = 0; !isOver; second += 1) {
    await sleep(1_000);
    if (second % 30 === 20) calls += (await upstream.tell('fail')).arrivals.length;
    if (second % 30 === 22) calls += (await upstream.tell(null)).arrivals.length;
  }
}

function tell(): void {
  const [first, last, highest] = [memory.rssAt(baselineAt), memory.rssAt(seconds), memory.highestRssFrom(baselineAt)];
  const growth = (rss: number) => `${formatMb(rss)}, ${((rss / first - 1) * 100).toFixed(1)} %`;
  print('');
  print(overTime);
  print(
    formatTable(
      ['', 'measured', 'aim'],
      [
        ['questions', `${asked} in ${ranSeconds.toFixed(0)} s, ${(asked / ranSeconds).toFixed(0)}/s`, ''],
        ['calls upstream', calls, ''],
        ['p50, p99, max ms', [0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(1)).join(', '), ''],
        [`RSS MB after ${baselineAt} s`, formatMb(first), ''],
        [`RSS MB after ${seconds} s, growth`, growth(last), 'at most 10 %'],
        ['highest RSS MB between, growth', growth(highest), ''],
        ['open files before and after', `${filesBefore?.all}, ${filesAfter?.all}`, 'the same'],
        ['sockets before and after', `${filesBefore?.sockets}, ${filesAfter?.sockets}`, 'the same'],
        ['times the breaker opened', countLog('circuit breaker opened'), ''],
        ['unexpected errors logged', countLog('unexpected error'), '0'],
      ],
    ),
  );
  print(formatTable(['kind of question', 'outcome', 'times'], tellOutcomes()));
  for (const { msg, err } of gateway.log.filter(({ level }) => level >= 50)) {
    verdict.wrong(`logged: ${msg} ${err?.stack ?? ''}`);
  }
}

function tellOutcomes(): (string | number)[][] {
  const order = questions.map(({ kind }) => kind);
  return [...outcomes]
    .map(([key, times]) => [...key.split('\n'), times])
    .sort((a, b) => order.indexOf(String(a[0])) - order.indexOf(String(b[0])) || Number(b[2]) - Number(a[2]));
}

function countLog(beginning: string): number {
  return gateway.log.filter(({ msg }) => msg?.startsWith(beginning)).length;
}
