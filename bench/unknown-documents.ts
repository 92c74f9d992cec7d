import { readFileSync } from 'node:fs';
import { createPreparedDocuments } from '../src/graphql/prepared-document.ts';
import { schema } from '../src/graphql/schema/schema.ts';
import { startGateway } from './gateway-process.ts';
import { createClient } from './load.ts';

/*
 * Documents that are sent once or twice, beside known documents: memory is bounded, and the known documents lose no more
 * throughput than receiving, parsing, validating and executing the others takes.
 *   npx tsx bench/unknown-documents.ts [documents]
 */

const documents = Number(process.argv[2] ?? 100_000);
const knownCallers = 40;
const unknownCallers = 10;

const fields = 'iban valid problems nationalCheck country { code name sepa ibanFields { name length } }';
const known = `query ($iban: String!) { ibanValidation(iban: $iban) { ${fields} } }`;
let sent = 0;
let created = 0;

/** An IBAN that is answered without an upstream call, and by no kept reply. */
const nextIban = () => {
  sent += 1;
  return `DE${sent}`;
};
const nextDocument = () => {
  created += 1;
  return `query Q${created} { a${created}: ibanValidation(iban: "DE${created}") { ${fields} } }`;
};

const gateway = await startGateway({ BANK_DATA_URL: 'http://127.0.0.1:9', BANK_DATA_API_KEY: 'key-of-the-benchmark' });
const client = createClient(gateway.url, knownCallers + unknownCallers);
const sendKnown = () => client.send(known, { iban: nextIban() });

await run(() => false, 2_000);
const alone = await run(() => false, 5_000);
const knownUs = (alone.cpuS / alone.known) * 1_000_000;
print('known alone', alone);
for (const times of [1, 2]) print(`beside unknown, sent ${times}x`, await runBeside(times));
print('known alone', await run(() => false, 5_000));
process.stdout.write(`preparing one document: ${measurePreparing().toFixed(0)} µs (parse, validate, scope)\n`);
await client.close();
process.exitCode = (await gateway.close()) ?? 1;

interface Result {
  seconds: number;
  known: number;
  unknown: number;
  /** CPU time of the gateway: throughput depends on what else the machine does. */
  cpuS: number;
  /** Of the largest value during the run. */
  rssMb: number;
}

/** Until all documents were sent. */
function runBeside(times: number): Promise<Result> {
  let left = documents;
  const sendUnknown = async () => {
    if (left <= 0) return false;
    left -= 1;
    const document = nextDocument();
    for (let time = 0; time < times; time += 1) await client.send(document);
    return true;
  };
  return run(sendUnknown, Number.POSITIVE_INFINITY, times);
}

/** @param sendUnknown false: there are no more */
async function run(sendUnknown: () => Promise<boolean> | false, lengthMs: number, times = 1): Promise<Result> {
  const startedAt = performance.now();
  const startedCpuS = readCpuS();
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
  return { seconds, known: knownCount, unknown: unknownCount, cpuS: readCpuS() - startedCpuS, rssMb };
}

function print(name: string, { seconds, known, unknown, cpuS, rssMb }: Result): void {
  const rates = `${(known / seconds).toFixed(0)} known/s, ${(unknown / seconds).toFixed(0)} unknown/s`;
  const unknownUs = unknown > 0 ? (cpuS * 1_000_000 - known * knownUs) / unknown : 0;
  const costs = `CPU time per known ${knownUs.toFixed(0)} µs, per unknown ${unknownUs.toFixed(0)} µs`;
  process.stdout.write(`${name}: ${rates}, RSS at most ${rssMb.toFixed(0)} MB, ${costs}\n`);
}

/** User and system time, in ticks of 10 ms: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function readCpuS(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** In this process, in µs. */
function measurePreparing(): number {
  const limits = { tokens: 5_000, characters: 100_000, cost: 100_000 };
  const { prepare } = createPreparedDocuments({ schema, limits, hasCallers: false });
  const count = 2_000;
  for (let index = 0; index < count; index += 1) prepare(nextDocument()).operation(null);
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) prepare(nextDocument()).operation(null);
  return ((performance.now() - startedAt) / count) * 1_000;
}
