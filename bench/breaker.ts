import { setTimeout as sleep } from 'node:timers/promises';
import { createVerdict, describeMachine, formatTable, percentile, print, readNumberOption } from './figures.ts';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import { createClient, type GraphqlAnswer, keepAsking } from './load.ts';
import { type Manner, scriptedBankName, scriptedIban } from './scripted-ibans.ts';
import { startUpstream } from './upstream.ts';

/*
 * What a failing upstream is asked, and what its failing does to callers: healthy for 3 s, failing for 10 s, healthy
 * again for 3 s, under the same load throughout. Every question is about another IBAN, so that nothing is cached.
 *   npx tsx bench/breaker.ts [--callers 50] [--rate 500]   (rate 0: as fast as the gateway answers)
 */

const callers = readNumberOption('callers', 50);
const perSecond = readNumberOption('rate', 500);
/** A process that has just started compiles for some seconds; how it answers then is no part of the question. */
const warmUpMs = 8_000;
const [healthyMs, failingMs, recoveredMs] = [3_000, 10_000, 3_000];
const timeoutMs = 1_000;
const query = 'query Bench($iban: String!) { ibanValidation(iban: $iban) { iban valid bankData { name } } }';
const verdict = createVerdict();

/** An answer with the moment it was asked for and how long it took, in milliseconds. */
interface Timed {
  askedAt: number;
  tookMs: number;
  /** `answered`, or the code of its failure. */
  outcome: string;
}

print(describeMachine());
for (const manner of ['fail', 'hang'] as const) await run(manner);
verdict.print();

async function run(manner: Manner): Promise<void> {
  const upstream = await startUpstream({ latencyMs: 5 });
  const gateway = await startGateway({
    BANK_DATA_URL: upstream.url,
    BANK_DATA_API_KEY: 'bench',
    BANK_DATA_TIMEOUT_MS: String(timeoutMs),
  });
  const client = createClient(gateway.url, callers);
  const answers: Timed[] = [];
  let asked = 0;
  let isOver = false;
  const askOne = async () => {
    const iban = scriptedIban('answer', asked++);
    const [askedAt, start] = [Date.now(), performance.now()];
    const answer = await client.ask(query, { iban });
    answers.push({ askedAt, tookMs: performance.now() - start, outcome: judge(iban, answer) });
  };
  const load = keepAsking({ callers, perSecond, ask: askOne, isOver: () => isOver });

  await sleep(warmUpMs);
  answers.length = 0;
  await sleep(healthyMs);
  const { at: failedAt } = await upstream.tell(manner);
  await sleep(failingMs);
  const { at: recoveredAt, arrivals: callsBefore } = await upstream.tell(null);
  await sleep(recoveredMs);
  isOver = true;
  await load;
  const { arrivals: callsAfter } = await upstream.report();
  await client.close();
  if ((await gateway.close()) !== 0) verdict.wrong('the gateway did not end with 0');
  await upstream.close();

  tell(manner, { answers, log: gateway.log, calls: [...callsBefore, ...callsAfter], failedAt, recoveredAt });
}

/** Right is the bank of this very IBAN, or null with one foreseen failure of the service. */
function judge(iban: string, { status, data, errors = [] }: GraphqlAnswer): string {
  const validation = data?.ibanValidation;
  const right = JSON.stringify({ iban, valid: true, bankData: { name: scriptedBankName(iban) } });
  if (status === 200 && errors.length === 0 && JSON.stringify(validation) === right) return 'answered';
  const code = errors[0]?.extensions?.code ?? 'no code';
  const isForeseen = ['UPSTREAM_FAILED', 'UPSTREAM_TIMED_OUT', 'UPSTREAM_UNAVAILABLE'].includes(code);
  if (status !== 200 || validation !== null || errors.length !== 1 || !isForeseen) {
    verdict.wrong(`HTTP ${status}, ${code}: ${JSON.stringify(validation)}`);
  }
  return code;
}

interface Run {
  answers: readonly Timed[];
  log: GatewayProcess['log'];
  /** When the calls arrived upstream. */
  calls: readonly number[];
  failedAt: number;
  recoveredAt: number;
}

function tell(manner: Manner, { answers, log, calls, failedAt, recoveredAt }: Run): void {
  const openedAt = log.find(({ msg }) => msg.startsWith('circuit breaker opened'))?.time ?? Number.NaN;
  const closedAt = log.find(({ msg }) => msg.startsWith('circuit breaker closed'))?.time ?? Number.NaN;
  if (!(openedAt >= failedAt)) verdict.wrong('the breaker did not open because the upstream failed');
  if (!(closedAt >= recoveredAt)) verdict.wrong('the breaker did not close after the recovery');
  const between = (from: number, to: number) => answers.filter(({ askedAt }) => askedAt >= from && askedAt < to);
  const before = between(0, failedAt);
  const isCut = ({ askedAt, tookMs }: Timed) => askedAt + tookMs >= failedAt;
  const healthy = before.filter((timed) => !isCut(timed));
  const closedAgain = between(closedAt + 1, Number.POSITIVE_INFINITY);
  for (const { outcome } of [...healthy, ...closedAgain]) {
    if (outcome !== 'answered') verdict.wrong(`${outcome} while the upstream was healthy`);
  }
  // Who was under way when it began to fail has met the failure, too.
  const failing = [...before.filter(isCut), ...between(failedAt, recoveredAt)];
  const onceOpen = between(openedAt + 1, recoveredAt);
  const phases: [string, readonly Timed[]][] = [
    ['healthy', healthy],
    ['failing', failing],
    ['failing, once open', onceOpen],
    ['recovered, until closed', between(recoveredAt, closedAt + 1)],
    ['closed again', closedAgain],
  ];
  const callsWhile = (from: number, to: number) => calls.filter((at) => at > from && at < to).length;

  print(`\nThe upstream ${manner === 'hang' ? `hangs (deadline ${timeoutMs} ms)` : 'answers 500'}; ${callers} callers, \
${perSecond > 0 ? `at most ${perSecond} questions/s` : 'as fast as they are answered'}\n`);
  print(formatTable(['phase', 'answers', 'p50 ms', 'p99 ms', 'max ms', 'outcomes'], phases.map(tellPhase)));
  print(
    formatTable(
      ['', 'measured', 'aim'],
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

function tellPhase([phase, answers]: [string, readonly Timed[]]): (string | number)[] {
  const took = times(answers);
  const counts = new Map<string, number>();
  for (const { outcome } of answers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const outcomes = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  return [phase, answers.length, ...[0.5, 0.99, 1].map((share) => percentile(took, share).toFixed(1)), outcomes];
}

function times(answers: readonly Timed[]): number[] {
  return answers.map(({ tookMs }) => tookMs);
}
