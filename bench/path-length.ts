import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startGateway } from './gateway-process.ts';
import type { Inspector } from './inspector.ts';
import { createClient } from './load.ts';
import { formatTable, print } from './report.ts';
import { scriptedIban } from './scripted-ibans.ts';
import { startUpstream } from './upstream.ts';

/*
 * Which files of `src` one request runs, how many promises it creates, and what it leaves in memory: the length of its path, whatever
 * the machine.
 *   npx tsx bench/path-length.ts [--list]
 */

export interface Path {
  /** The functions that ran, by the file of `src` that they are in. */
  functions: ReadonlyMap<string, readonly string[]>;
  promises: number;
}

/** IBANs of a list. */
export const listLength = 40;
const requestKinds = ['cold IBAN', 'cold list', 'cached IBAN', 'kept reply', 'essay'] as const;
type RequestKind = (typeof requestKinds)[number];

const ibanQuery = `query ($iban: String!) {
  ibanValidation(iban: $iban) {
    valid iban ibanData { country countryCode bankCode bban } bankData { name bic city }
  }
}`;
const listQuery = ibanQuery
  .replace('$iban: String!', '$ibans: [String!]!')
  .replace('ibanValidation(iban: $iban)', 'ibanValidations(ibans: $ibans)');
const essayMutation = `mutation ($topic: String!, $key: ID!) {
  generateEssay(input: { description: $topic, wordCount: 100, idempotencyKey: $key }) { ... on Essay { id text } ... on UserError { message } }
}`;

/**
 * Runs a gateway from its source with its defaults, the log, the metrics and the audit trail, and sends it requests of each kind one after
 * the other. Some requests do more than others: the first prepare their document, later ones compile it, an hourly sweep
 * deletes expired entries. So the least of the last rounds counts.
 */
export async function measurePaths(): Promise<{ paths: Record<RequestKind, Path>; bytesLeft: number }> {
  const upstream = await startUpstream({ latencyMs: 0 });
  const gateway = await startGateway({ ...upstream.env, METRICS_PORT: '0' }, { fromSource: true });
  const client = createClient(gateway.url, 1);
  const clients = createClient(gateway.url, 20);
  try {
    const bytesLeft = await gateway.inspect(measureBytesLeft);
    const rounds = await gateway.inspect(async (inspector) => {
      await evaluate(inspector, countPromises);
      await inspector.call('Profiler.enable');
      await inspector.call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      const measured: Record<RequestKind, Path>[] = [];
      for (let round = 1; round <= warmUpRounds + measuredRounds; round += 1)
        measured.push(await measureRound(inspector, round));
      return measured.slice(-measuredRounds);
    });
    // On a busy machine, the round with the fewest promises may have a sweep in it.
    const shortest = (kind: RequestKind): Path => {
      const own = rounds.map((paths) => paths[kind]);
      const { functions } = own.reduce((a, b) => (b.functions.size < a.functions.size ? b : a));
      return { functions, promises: Math.min(...own.map(({ promises }) => promises)) };
    };
    const paths = Object.fromEntries(requestKinds.map((kind) => [kind, shortest(kind)]));
    return { paths: paths as Record<RequestKind, Path>, bytesLeft };
  } finally {
    await Promise.all([client.close(), clients.close()]);
    await gateway.close();
    await upstream.close();
  }

  async function measureRound(inspector: Inspector, round: number): Promise<Record<RequestKind, Path>> {
    const sendIban = () => send(ibanQuery, { iban: scriptedIban('share', round) });
    const listed = Array.from({ length: listLength }, (_, index) => scriptedIban('answer', round * listLength + index));
    const sendList = () => send(listQuery, { ibans: listed });
    const sendOrder = () => send(essayMutation, { topic: `Pens, part ${round}`, key: `order-${round}` });
    return {
      // A look-up, its repetition from the cache, and the repetition of that reply.
      'cold IBAN': await measurePath(inspector, sendIban),
      'cold list': await measurePath(inspector, sendList),
      'cached IBAN': await measurePath(inspector, sendIban),
      'kept reply': await measurePath(inspector, sendIban),
      essay: await measurePath(inspector, sendOrder),
    };
  }

  /**
   * Bytes of a look-up of a new IBAN in the old generation of the heap, where only a full garbage collection finds them: the entry of the
   * cache, and what it should not leave there. Node.js 20 leaves a hidden class for each object like `{ ...some, further }`, and a Map
   * what was in it before it grew or shrank.
   */
  async function measureBytesLeft(inspector: Inspector): Promise<number> {
    await evaluate(inspector, exposeCollection);
    let sent = 0;
    const sendBatch = () =>
      Promise.all(
        Array.from({ length: batchSize }, () =>
          send(ibanQuery, { iban: scriptedIban('answer', ++sent + 1_000_000) }, clients),
        ),
      );
    // Until it is compiled, the path itself takes memory.
    for (let batch = 0; batch < 15; batch += 1) await sendBatch();
    const left: number[] = [];
    let before = Number(await evaluate(inspector, collectYoung));
    for (let batch = 0; batch < 11; batch += 1) {
      const sending = sendBatch();
      await evaluate(inspector, collectYoung);
      await sending;
      const after = Number(await evaluate(inspector, collectYoung));
      left.push((after - before) / batchSize);
      before = after;
    }
    // A full garbage collection may have come in between.
    return left.sort((a, b) => a - b)[5] ?? Number.NaN;
  }

  async function send(query: string, variables: object, by = client): Promise<void> {
    const { status, errors, data } = await by.send(query, variables);
    if (status !== 200 || errors) throw new Error(`no answer: ${JSON.stringify({ status, errors, data })}`);
  }
}

const batchSize = 200;
const warmUpRounds = 6;
const measuredRounds = 9;

/** Counts the promises of the process: also those that a library or Node.js creates. */
const countPromises = `globalThis.promises = 0;
  require('node:async_hooks').createHook({ init(_, type) { if (type === 'PROMISE') globalThis.promises += 1; } }).enable();`;

const exposeCollection = `require('node:v8').setFlagsFromString('--expose-gc'); globalThis.collect = require('node:vm').runInNewContext('gc');`;
/** Also what survives twice is in the old generation then. */
const collectYoung = `collect({ type: 'minor' }); collect({ type: 'minor' }); process.memoryUsage().heapUsed;`;

async function evaluate({ call }: Inspector, expression: string): Promise<unknown> {
  const parameters = { expression, includeCommandLineAPI: true, returnByValue: true };
  const { result, exceptionDetails } = await call<Evaluated>('Runtime.evaluate', parameters);
  if (exceptionDetails !== undefined) throw new Error(`cannot evaluate: ${JSON.stringify(exceptionDetails)}`);
  return result.value;
}

interface Evaluated {
  result: { value?: unknown };
  exceptionDetails?: object;
}

async function measurePath(inspector: Inspector, request: () => Promise<void>): Promise<Path> {
  // Taking the counts resets them.
  await inspector.call('Profiler.takePreciseCoverage');
  const before = Number(await evaluate(inspector, 'globalThis.promises'));
  await request();
  // For what follows a response: log lines, writes to the store.
  await sleep(100);
  const promises = Number(await evaluate(inspector, 'globalThis.promises')) - before;
  const { result } = await inspector.call<{ result: ScriptCoverage[] }>('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ url }) => url.startsWith(sourceUrl))
    .map(({ url, functions }): [string, string[]] => [url.slice(sourceUrl.length), findRun(functions)])
    .filter(([, functions]) => functions.length > 0);
  return { functions: new Map(files.sort(([a], [b]) => (a < b ? -1 : 1))), promises };
}

const sourceUrl = new URL('../src/', import.meta.url).href;

/** https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-ScriptCoverage */
interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { count: number }[] }[];
}

/** @returns the names of the functions that have run, without the helper that esbuild adds to each file */
function findRun(functions: ScriptCoverage['functions']): string[] {
  return functions
    .filter(({ functionName, ranges }) => (ranges[0]?.count ?? 0) > 0 && functionName !== '__name')
    .map(({ functionName }) => functionName || '(anonymous)');
}

async function printPaths(): Promise<void> {
  const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
  const { paths, bytesLeft } = await measurePaths();
  if (options.list)
    for (const kind of requestKinds) {
      print(`${kind}:`);
      for (const [file, functions] of paths[kind].functions) print(`  ${file}: ${functions.join(', ')}`);
    }
  const rows = requestKinds.map((kind) => [kind, paths[kind].functions.size, paths[kind].promises]);
  print(formatTable(['request', 'files', 'promises'], rows));
  print(`A cold IBAN leaves ${Math.round(bytesLeft)} bytes in the old generation of the heap.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await printPaths();
