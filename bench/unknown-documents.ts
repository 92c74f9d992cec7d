import { readCpuS, startGateway } from './gateway-process.ts';
import { createClient } from './load.ts';
import { createChecks, describeMachine, formatTable, median, print } from './report.ts';

/*
 * Documents that are not known, beside known ones: memory, and how much throughput the known documents lose. Each of the
 * unknown documents takes the place of a request, too: the fall of all requests is what they cost beyond as many requests
 * with a known document.
 *   npx tsx bench/unknown-documents.ts [documents]
 */

const documents = Number(process.argv[2] ?? 100_000);
const rounds = 5;
const knownCallers = 40;
const unknownCallers = 10;

const fields = 'iban valid problems nationalCheck country { code name isSepa ibanFields { name length } }';
const known = `query ($iban: String!) { ibanValidation(iban: $iban) { ${fields} } }`;
let sent = 0;
let created = 0;

/** An IBAN that is answered without an upstream call, and by no kept reply. */
const nextIban = () => {
  sent += 1;
  return `DE${sent}`;
};
/** With names of its own, so that nothing of another document can be used for it. */
const nextDocument = () => {
  created += 1;
  return `query Q${created} { a${created}: ibanValidation(iban: "DE${created}") { ${fields} } }`;
};

const gateway = await startGateway({ BANK_DATA_URL: 'http://127.0.0.1:9', BANK_DATA_API_KEY: 'key-of-the-benchmark' });
const client = createClient(gateway.url, knownCallers + unknownCallers);
const checks = createChecks();
const sendKnown = () => send(known, { iban: nextIban() });

async function send(document: string, variables?: object): Promise<void> {
  const { data } = await client.send(document, variables);
  const [validation] = Object.values(data ?? {}) as ({ valid?: boolean } | null)[];
  if (validation?.valid !== false) checks.fail('an invalid IBAN is not reported as invalid');
}

/** The same round, without and with documents that are not known. */
interface Pair {
  alone: Result;
  beside: Result;
}

const once: Pair[] = [];
const twice: Pair[] = [];

await runAlone();
for (let round = 0; round < rounds; round += 1) {
  once.push({ alone: await runAlone(), beside: await runBeside(1) });
  twice.push({ alone: await runAlone(), beside: await runBeside(2) });
}
await client.close();
printResults();
if ((await gateway.close()) !== 0) checks.fail('the gateway did not exit with 0');
checks.print();

interface Result {
  seconds: number;
  known: number;
  unknown: number;
  /** CPU time of the gateway: throughput also depends on what else the machine does, and on the clients. */
  cpuS: number;
  /** Of the largest value during the run. */
  rssMb: number;
}

function runAlone(): Promise<Result> {
  return run(() => false, 2_000);
}

/** Until all documents of the round were sent. */
function runBeside(times: number): Promise<Result> {
  let left = Math.ceil(documents / rounds);
  const sendUnknown = async () => {
    if (left <= 0) return false;
    left -= 1;
    const document = nextDocument();
    for (let time = 0; time < times; time += 1) await send(document);
    return true;
  };
  return run(sendUnknown, Number.POSITIVE_INFINITY, times);
}

/** @param sendUnknown false: there are no more */
async function run(sendUnknown: () => Promise<boolean> | false, lengthMs: number, times = 1): Promise<Result> {
  const startedAt = performance.now();
  const startedCpuS = readCpuS(gateway.pid);
  let isOver = false;
  let knownCount = 0;
  let unknownCount = 0;
  let rssMb = 0;
  const sampler = setInterval(() => {
    rssMb = Math.max(rssMb, gateway.memory()?.rss ?? 0);
    if (performance.now() - startedAt > lengthMs) isOver = true;
  }, 100);
  const callKnown = async () => {
    while (!isOver) {
      await sendKnown();
      knownCount += 1;
    }
  };
  const callUnknown = async () => {
    while (!isOver && (await sendUnknown())) unknownCount += times;
  };
  const unknown = Promise.all(Array.from({ length: unknownCallers }, callUnknown));
  if (lengthMs === Number.POSITIVE_INFINITY) {
    unknown.then(() => {
      isOver = true;
    });
  }
  await Promise.all([unknown, ...Array.from({ length: knownCallers }, callKnown)]);
  clearInterval(sampler);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, known: knownCount, unknown: unknownCount, cpuS: readCpuS(gateway.pid) - startedCpuS, rssMb };
}

function printResults(): void {
  const alone = [...once, ...twice].map((pair) => pair.alone);
  const knownUs = median(alone.map(({ cpuS, known }) => (cpuS / known) * 1_000_000));
  const knownRate = ({ known, seconds }: Result) => known / seconds;
  const allRate = ({ known, unknown, seconds }: Result) => (known + unknown) / seconds;
  const maxRss = (results: readonly Result[]) => Math.max(...results.map(({ rssMb }) => rssMb)).toFixed(0);
  const row = (name: string, pairs: readonly Pair[]) => {
    const results = pairs.map(({ beside }) => beside);
    return [
      name,
      median(results.map(knownRate)).toFixed(0),
      median(results.map(({ unknown, seconds }) => unknown / seconds)).toFixed(0),
      percent(median(pairs.map(({ alone, beside }) => 1 - knownRate(beside) / knownRate(alone)))),
      percent(median(pairs.map(({ alone, beside }) => 1 - allRate(beside) / allRate(alone)))),
      median(results.map(({ cpuS, known, unknown }) => (cpuS * 1_000_000 - known * knownUs) / unknown)).toFixed(0),
      maxRss(results),
    ];
  };
  const columns = [
    'load',
    'known/s',
    'unknown/s',
    'fall of known',
    'fall of all',
    'CPU µs per unknown',
    'RSS at most, MB',
  ];
  const rows = [
    ['known alone', median(alone.map(knownRate)).toFixed(0), '0', '', '', '', maxRss(alone)],
    row('beside new documents, sent once', once),
    row('beside new documents, sent twice', twice),
  ];
  print(describeMachine());
  print(`medians of ${rounds} rounds, ${documents} documents of each kind`);
  print(`CPU time per request with a known document: ${knownUs.toFixed(0)} µs`);
  print(formatTable(columns, rows));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
