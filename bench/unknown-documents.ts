import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildSchema, parse, validate } from 'graphql';
import { bundleOptions } from '../scripts/bundle.ts';
import { startGateway } from './gateway-process.ts';
import { profileShare } from './inspector.ts';
import { createClient } from './load.ts';
import { createChecks, describeMachine, formatTable, median, print } from './report.ts';

/*
 * Documents that are not known, beside known ones: memory, and how much throughput the known documents lose, beside the
 * time that parsing and validating each of the others takes: GraphQL.js as published, in a loop that does nothing else; the
 * gateway's own preparing, in such a loop and by a profile of the gateway. Each of these documents takes the place of a
 * request, too: the fall of all requests is what they cost beyond as many requests with a known document.
 *   npx tsx bench/unknown-documents.ts [documents]
 */

const documents = Number(process.argv[2] ?? 100_000);
const rounds = 5;
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
/** With names of its own, so that nothing of another document can be used for it. */
const nextDocument = () => {
  created += 1;
  return `query Q${created} { a${created}: ibanValidation(iban: "DE${created}") { ${fields} } }`;
};
/** As of clients that use no variables: it differs from others in its IBAN. */
const nextText = () => {
  created += 1;
  return `{ ibanValidation(iban: "DE${created}") { ${fields} } }`;
};

/** All that a known document saves: parse, validate, scope and cost. */
const preparingFunctions = new Set(['parseDocument', 'prepareDocument', 'createPreparedOperation']);

const bundled = await loadBundled();
const gateway = await startGateway({ BANK_DATA_URL: 'http://127.0.0.1:9', BANK_DATA_API_KEY: 'key-of-the-benchmark' });
const client = createClient(gateway.url, knownCallers + unknownCallers);
const checks = createChecks();
const sendKnown = () => send(known, { iban: nextIban() });

async function send(document: string, variables?: object): Promise<void> {
  const { data } = await client.send(document, variables);
  const [validation] = Object.values(data ?? {}) as ({ valid?: boolean } | null)[];
  if (validation?.valid !== false) checks.fail('an invalid IBAN is not reported as invalid');
}

type Bundled = typeof import('../src/graphql/documents/documents.ts') &
  typeof import('../src/graphql/schema/schema.ts');

/** The same round, without and with documents that are not known. */
interface Pair {
  alone: Result;
  beside: Result;
}

const texts: Pair[] = [];
const once: Pair[] = [];
const twice: Pair[] = [];
const preparingUs: number[] = [];
const graphqlJsUs: number[] = [];
const schema = buildSchema(readFileSync('schema.graphql', 'utf8'), { assumeValidSDL: true });

await runAlone();
for (let round = 0; round < rounds; round += 1) {
  texts.push({ alone: await runAlone(), beside: await runBeside(nextText, 1) });
  once.push({ alone: await runAlone(), beside: await runBeside(nextDocument, 1) });
  twice.push({ alone: await runAlone(), beside: await runBeside(nextDocument, 2) });
  preparingUs.push(measurePreparing());
  graphqlJsUs.push(measureGraphqlJs());
}
// Profiled in rounds of their own, because a profile slows down the gateway.
const shares = {
  texts: await profilePreparing(nextText, 1),
  once: await profilePreparing(nextDocument, 1),
  twice: await profilePreparing(nextDocument, 2),
};
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
function runBeside(next: () => string, times: number): Promise<Result> {
  let left = Math.ceil(documents / rounds);
  const sendUnknown = async () => {
    if (left <= 0) return false;
    left -= 1;
    const document = next();
    for (let time = 0; time < times; time += 1) await send(document);
    return true;
  };
  return run(sendUnknown, Number.POSITIVE_INFINITY, times);
}

/** @returns the share of the gateway's time that it spent on preparing documents, from 0 to 1 */
function profilePreparing(next: () => string, times: number): Promise<number> {
  return gateway.inspect((inspector) => profileShare(inspector, preparingFunctions, () => runBeside(next, times)));
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

function printResults(): void {
  const alone = [...texts, ...once, ...twice].map((pair) => pair.alone);
  const preparing = median(preparingUs);
  const graphqlJs = median(graphqlJsUs);
  const knownUs = median(alone.map(({ cpuS, known }) => (cpuS / known) * 1_000_000));
  const knownRate = ({ known, seconds }: Result) => known / seconds;
  const allRate = ({ known, unknown, seconds }: Result) => (known + unknown) / seconds;
  const maxRss = (results: readonly Result[]) => Math.max(...results.map(({ rssMb }) => rssMb)).toFixed(0);
  const row = (name: string, pairs: readonly Pair[], share: number, times: number) => {
    const results = pairs.map(({ beside }) => beside);
    const unknownRate = median(results.map(({ unknown, seconds }) => unknown / seconds));
    return [
      name,
      median(results.map(knownRate)).toFixed(0),
      unknownRate.toFixed(0),
      percent(median(pairs.map(({ alone, beside }) => 1 - knownRate(beside) / knownRate(alone)))),
      percent(median(pairs.map(({ alone, beside }) => 1 - allRate(beside) / allRate(alone)))),
      // Of each document once, as a server does that caches what it has parsed.
      percent(((unknownRate / times) * graphqlJs) / 1_000_000),
      percent((unknownRate * preparing) / 1_000_000),
      percent(share),
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
    'GraphQL.js, in a loop',
    'preparing, in a loop',
    'preparing, by profile',
    'CPU µs per unknown',
    'RSS at most, MB',
  ];
  const rows = [
    ['known alone', median(alone.map(knownRate)).toFixed(0), '0', '', '', '', '', '', '', maxRss(alone)],
    row('beside new texts', texts, shares.texts, 1),
    row('beside new names, sent once', once, shares.once, 1),
    row('beside new names, sent twice', twice, shares.twice, 2),
  ];
  print(describeMachine());
  print(`medians of ${rounds} rounds, ${documents} documents of each kind`);
  print(`parsing and validating one document with GraphQL.js: ${graphqlJs.toFixed(0)} µs`);
  print(`preparing one document (parse, validate, scope, cost): ${preparing.toFixed(0)} µs`);
  print(`CPU time per request with a known document: ${knownUs.toFixed(0)} µs`);
  print(formatTable(columns, rows));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** User and system time, in ticks of 10 ms: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function readCpuS(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The code as the gateway has it. */
async function loadBundled(): Promise<Bundled> {
  // In the project, where its packages are found.
  const folder = mkdtempSync('node_modules/bench-');
  const outfile = join(folder, 'prepare.js');
  const modules = ['documents/documents.ts', 'schema/schema.ts'];
  const contents = modules.map((module) => `export * from '../src/graphql/${module}';`).join('\n');
  try {
    await build({ ...bundleOptions, stdin: { contents, resolveDir: import.meta.dirname }, outfile });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** In this process, in µs. */
function measurePreparing(): number {
  const limits = { tokens: 5_000, characters: 100_000, cost: 100_000 };
  const { prepare } = bundled.createPreparedDocuments({ schema: bundled.schema, limits, hasCallers: false });
  return measureLoop(() => prepare(nextDocument()).operation(null));
}

/** In this process, in µs. */
function measureGraphqlJs(): number {
  return measureLoop(() => {
    const [error] = validate(schema, parse(nextDocument()));
    if (error) checks.fail(error.message);
  });
}

/** @returns µs per call, after a warm-up */
function measureLoop(task: () => void): number {
  const count = 2_000;
  for (let index = 0; index < count; index += 1) task();
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) task();
  return ((performance.now() - startedAt) / count) * 1_000;
}
