import { setTimeout as sleep } from 'node:timers/promises';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import { createClient, type GraphqlAnswer, runLoad } from './load.ts';
import { createChecks, describeMachine, formatTable, percentile, print, readNumberOption } from './report.ts';
import { type Behavior, scriptedBankName, scriptedIban } from './scripted-ibans.ts';
import { startUpstream } from './upstream.ts';

/*
 * The calls to a failing upstream, and its effect on clients: healthy for 3 s, failing for 10 s, healthy again for 3 s,
 * with constant load. Every request is for a different IBAN, so that nothing is cached.
 *   npx tsx bench/breaker.ts [--clients 50] [--rate 500]   (rate 0: unlimited)
 */

const clients = readNumberOption('clients', 50);
const perSecond = readNumberOption('rate', 500);
/** Excludes the first seconds, in which Node.js compiles the code. */
const warmUpMs = 8_000;
const [healthyMs, failingMs, recoveredMs] = [3_000, 10_000, 3_000];
const timeoutMs = 1_000;
const query = 'query Bench($iban: String!) { ibanValidation(iban: $iban) { iban valid bankData { name } } }';
const checks = createChecks();

/** In milliseconds. */
interface TimedAnswer {
  sentAt: number;
  tookMs: number;
  /** `answered`, or an error code. */
  outcome: string;
}

print(describeMachine());
for (const behavior of ['fail', 'hang'] as const) await run(behavior);
checks.print();

async function run(behavior: Behavior): Promise<void> {
  const upstream = await startUpstream({ latencyMs: 5 });
  const gateway = await startGateway({
    BANK_DATA_URL: upstream.url,
    BANK_DATA_API_KEY: 'bench-key',
    BANK_DATA_TIMEOUT_MS: String(timeoutMs),
  });
  const client = createClient(gateway.url, clients);
  const answers: TimedAnswer[] = [];
  let requests = 0;
  let isOver = false;
  const sendOne = async () => {
    const iban = scriptedIban('answer', requests++);
    const [sentAt, start] = [Date.now(), performance.now()];
    const answer = await client.send(query, { iban });
    answers.push({ sentAt, tookMs: performance.now() - start, outcome: check(iban, answer) });
  };
  const load = runLoad({ clients, perSecond, send: sendOne, isOver: () => isOver });

  await sleep(warmUpMs);
  answers.length = 0;
  await sleep(healthyMs);
  const { at: failedAt } = await upstream.setBehavior(behavior);
  await sleep(failingMs);
  const { at: recoveredAt, arrivals: callsBefore } = await upstream.setBehavior(null);
  await sleep(recoveredMs);
  isOver = true;
  await load;
  const { arrivals: callsAfter } = await upstream.report();
  await client.close();
  if ((await gateway.close()) !== 0) checks.fail('the gateway did not exit with 0');
  await upstream.close();

  printRun(behavior, { answers, log: gateway.log, calls: [...callsBefore, ...callsAfter], failedAt, recoveredAt });
}

/** Expects the bank of this IBAN, or null with one error of the service. */
function check(iban: string, { status, data, errors = [] }: GraphqlAnswer): string {
  const validation = data?.ibanValidation;
  const expected = JSON.stringify({ iban, valid: true, bankData: { name: scriptedBankName(iban) } });
  if (status === 200 && errors.length === 0 && JSON.stringify(validation) === expected) return 'answered';
  const code = errors[0]?.extensions?.code ?? 'no code';
  const isExpected = ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT', 'UPSTREAM_UNAVAILABLE'].includes(code);
  if (status !== 200 || validation !== null || errors.length !== 1 || !isExpected) {
    checks.fail(`HTTP ${status}, ${code}: ${JSON.stringify(validation)}`);
  }
  return code;
}

interface Run {
  answers: readonly TimedAnswer[];
  log: GatewayProcess['log'];
  /** Arrival times of the upstream calls. */
  calls: readonly number[];
  failedAt: number;
  recoveredAt: number;
}

function printRun(behavior: Behavior, { answers, log, calls, failedAt, recoveredAt }: Run): void {
  const openedAt = log.find(({ msg }) => msg.startsWith('circuit breaker opened'))?.time ?? Number.NaN;
  const closedAt = log.find(({ msg }) => msg.startsWith('circuit breaker closed'))?.time ?? Number.NaN;
  if (!(openedAt >= failedAt)) checks.fail('the breaker did not open because the upstream failed');
  if (!(closedAt >= recoveredAt)) checks.fail('the breaker did not close after the recovery');
  const between = (from: number, to: number) => answers.filter(({ sentAt }) => sentAt >= from && sentAt < to);
  const before = between(0, failedAt);
  const isInterrupted = ({ sentAt, tookMs }: TimedAnswer) => sentAt + tookMs >= failedAt;
  const healthy = before.filter((answer) => !isInterrupted(answer));
  const closedAgain = between(closedAt + 1, Number.POSITIVE_INFINITY);
  for (const { outcome } of [...healthy, ...closedAgain]) {
    if (outcome !== 'answered') checks.fail(`${outcome} while the upstream was healthy`);
  }
  // Requests in flight when the failure began are counted as failing.
  const failing = [...before.filter(isInterrupted), ...between(failedAt, recoveredAt)];
  const onceOpen = between(openedAt + 1, recoveredAt);
  const phases: [string, readonly TimedAnswer[]][] = [
    ['healthy', healthy],
    ['failing', failing],
    ['failing, once open', onceOpen],
    ['recovered, until closed', between(recoveredAt, closedAt + 1)],
    ['closed again', closedAgain],
  ];
  const callsWhile = (from: number, to: number) => calls.filter((at) => at > from && at < to).length;

  print(`\nThe upstream ${behavior === 'hang' ? `hangs (deadline ${timeoutMs} ms)` : 'answers 500'}; ${clients} clients, \
${perSecond > 0 ? `at most ${perSecond} requests/s` : 'unlimited rate'}\n`);
  print(formatTable(['phase', 'answers', 'p50 ms', 'p99 ms', 'max ms', 'outcomes'], phases.map(formatPhase)));
  print(
    formatTable(
      ['', 'measured', 'target'],
      [
        ['calls upstream until the breaker opened', callsWhile(failedAt, openedAt + 1), ''],
        ['ms until it opened', openedAt - failedAt, ''],
        ['calls upstream once open, until the recovery', callsWhile(openedAt, recoveredAt), 'at most 30'],
        ['p99 ms of answers once open', percentile(times(onceOpen), 0.99).toFixed(1), 'below 50'],
        ['calls upstream from the recovery until closed', callsWhile(recoveredAt, closedAt), '1'],
        ['ms from the recovery until closed', closedAt - recoveredAt, ''],
      ],
    ),
  );
}

function formatPhase([phase, answers]: [string, readonly TimedAnswer[]]): (string | number)[] {
  const durations = times(answers);
  const counts = new Map<string, number>();
  for (const { outcome } of answers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const outcomes = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  return [phase, answers.length, ...[0.5, 0.99, 1].map((share) => percentile(durations, share).toFixed(1)), outcomes];
}

function times(answers: readonly TimedAnswer[]): number[] {
  return answers.map(({ tookMs }) => tookMs);
}
