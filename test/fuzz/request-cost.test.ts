import { expect, it } from 'vitest';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import {
  createRequests,
  type FuzzRequest,
  type Measurement,
  type MeasureOptions,
  tMeasuredGateway,
} from '../support/fuzz/measured-gateway.ts';
import { as, keyOf, sha256 } from '../support/gateway/callers.ts';
import { repeat } from '../support/gateway/graphql/documents.ts';
import { noUpstreams } from '../support/process.ts';
import { createRandom } from '../support/random.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

const bomb = `{ country(code: "FR") { ...F0 } } ${repeat(6, (level) => {
  const field = level % 2 ? 'parent' : 'territories';
  return `fragment F${level} on IbanCountry { ${repeat(4, (alias) => `a${alias}: ${field} { ...F${level + 1} }`)} }`;
})} fragment F6 on IbanCountry { code }`;

const entities = (padding: string) =>
  `query ($list: [_Any!]!) { ${padding} _entities(representations: $list) { __typename ... on IbanCountry { code name } } }`;
const list = (length: number, item: unknown) => ({ list: Array.from({ length }, () => item) });
const lists = `query ($list: [String!]!) { ${repeat(48, (index) => `l${index}: ibanValidations(ibans: $list) { iban }`)} }`;
const order = 'query ($list: GenerateIbanInput!) { generateIban(input: $list) { __typename } }';
const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}`, 1]));

const long = 'x'.repeat(900_000);
const text = (before: string, count: number, field: string, after = '') =>
  `query ($text: String!) { ${before} ${repeat(count, (index) => `a${index}: ${field}`)}${after} }`;
const generateIban =
  'generateIban(input: { country: "DE", bankCode: $text, branch: $text, accountNumber: $text }) { __typename }';
const suggestions = (count: number) =>
  `query ($list: [String!]!) { ibanValidations(ibans: $list) { ${repeat(count, (index) => `a${index}: suggestions`)} } }`;
const wrongIbans = Array.from({ length: 1_000 }, (_, index) => `DE893704004405320${String(index).padStart(5, '0')}`);

/** Requests that would take seconds or gigabytes without limits: name, query and variables. */
const attacks: [string, string, Record<string, unknown>?][] = [
  ['a bomb of aliases and fragments', bomb],
  ['half a million fields', `{ ${repeat(300, (index) => `c${index}: countries { name territories { name } }`)} }`],
  ['the largest response', `{ ${repeat(300, (index) => `c${index}: countries { code name isSepa }`)} }`],
  ['1,000 wrong entities behind 400,000 lines', entities('\n'.repeat(400_000)), list(1_000, { __typename: 'Payee' })],
  ['1,000 wrong entities behind 4,900 lines', entities('\n'.repeat(4_900)), list(1_000, { __typename: 'Payee' })],
  ['300 failing fields', `{ ${repeat(300, (index) => `p${index}: banks(first: 0) { totalCount }`, '\n'.repeat(10))} }`],
  ['1,500 wrong fields', `{ ${repeat(1_500, (index) => `f${index}`, '\n\n\n')} }`],
  ['50,000 entities', entities(''), list(50_000, { __typename: 'IbanCountry', code: 'DE' })],
  ['48 lists of 1,000 IBANs', lists, list(1_000, 'XX')],
  ['2,400 brackets', repeat(2_400, () => '{ a', '')],
  ['50,000 fields of a variable', order, { list: fields }],
  ['300 aliases of a long IBAN', text('ibanValidation(iban: $text) {', 300, 'iban', ' }'), { text: long }],
  ['20 generated IBANs of long fields', text('', 20, generateIban), { text: long }],
  ['50 long country codes', text('', 50, 'country(code: $text) { name }'), { text: long }],
  ['20 searches of 3,500 words', text('', 20, 'banks(search: $text) { totalCount }'), { text: 'a '.repeat(3_500) }],
  ['60,000 suggestions', suggestions(60), list(1_000, 'XX')],
  ['suggestions of 1,000 IBANs', suggestions(1), { list: wrongIbans }],
  ['a long alias of 1,000 entries', suggestions(1).replace('a0', 'a'.repeat(90_000)), list(1_000, 'XX')],
];

/*
 * No request uses more than 100 ms of CPU (200 ms on a busy machine) or 32 MB, beyond the look-ups it was admitted for. More of them, or others:
 *   FUZZ_REQUESTS=20000 FUZZ_SEED=7 npx vitest run test/fuzz
 */

const { FUZZ_REQUESTS } = process.env;
const requests = Number(FUZZ_REQUESTS ?? 20);
const seed = Number(process.env.FUZZ_SEED ?? 1);
const targetCpuMs = 100;
/** CPU time grows where tests share the cores. */
const maxCpuMs = 200;
const maxGrownMb = 32;
const cpuMsPerLookUp = 1;

/** A caller who may do everything, and whose requests and calls are counted, beside clients without credentials. */
const callers = {
  ANONYMOUS_SCOPES: 'bank-data+essays+cost+traces',
  GATEWAY_API_KEYS: `fuzzer:${sha256(keyOf('fuzzer'))}:bank-data+essays+introspection`,
  ROUTER_SECRET: 'seeded-router-secret-of-32-chars',
  CALLER_REQUESTS_PER_MINUTE: '1000000',
  CALLER_BANK_DATA_CALLS: '1000000/day',
  CALLER_ESSAY_CALLS: '1000000/day',
};

it(`no generated request is expensive, and no known attack is much more (seed ${seed})`, {
  timeout: 300_000 + requests * 100,
}, async () => {
  const upstream = await tUpstream(replyJson(200, { valid: true, data: [], essay: 'Pens hold ink.' }));
  const urls = { BANK_DATA_URL: upstream.url, ESSAY_URL: upstream.url };
  const gateway = await tMeasuredGateway({ ...noUpstreams, ...urls, ...callers });
  const next = createRequests(schema, createRandom(seed));
  const warmUp = createRequests(schema, createRandom(seed + 1));
  for (let count = 0; count < 20; count += 1) await gateway.measure(warmUp());

  const measured: Measurement[] = [];
  for (let count = 0; count < requests; count += 1) {
    const credentials = count % 4 === 0 ? as('fuzzer') : {};
    const measurement = await measureLeast(gateway, next(), (one) => isExpensive(one, targetCpuMs), { credentials });
    measured.push(measurement);
  }
  if (FUZZ_REQUESTS !== undefined) printWorst(measured);
  expect(measured.filter((one) => isExpensive(one, maxCpuMs)).map(describe)).toEqual([]);
  expect(measured.filter(({ status }) => status >= 500 || status === 401 || status === 429).map(describe)).toEqual([]);

  for (const [name, query, variables = {}] of attacks) {
    // Three times the target: these are the most expensive requests that are known.
    const isTooMuch = ({ cpuMs, grownMb }: Measurement) => cpuMs > 300 || grownMb > 96;
    for (const options of [{ credentials: as('fuzzer') }, { isTraced: true }]) {
      const measurement = await measureLeast(gateway, { query, variables }, isTooMuch, options);
      expect([measurement].filter(isTooMuch).map(describe), name).toEqual([]);
      expect(measurement.bytes, name).toBeLessThan(6_000_000);
    }
  }
});

/** A garbage collection or a compilation may fall into any request; an expensive one is expensive every time. */
async function measureLeast(
  gateway: Awaited<ReturnType<typeof tMeasuredGateway>>,
  request: FuzzRequest,
  isTooMuch: (measurement: Measurement) => boolean,
  options: MeasureOptions,
): Promise<Measurement> {
  let least = await gateway.measure(request, options);
  for (let retry = 0; retry < 3 && isTooMuch(least); retry += 1) {
    const again = await gateway.measure(request, { ...options, collects: true });
    const [cpuMs, grownMb] = [Math.min(again.cpuMs, least.cpuMs), Math.min(again.grownMb, least.grownMb)];
    least = { ...again, cpuMs, grownMb };
  }
  return least;
}

function isExpensive({ cpuMs, grownMb, lookUps }: Measurement, limitMs: number): boolean {
  return cpuMs > limitMs + lookUps * cpuMsPerLookUp || grownMb > maxGrownMb;
}

function printWorst(measured: readonly Measurement[]): void {
  const [worst] = measured.toSorted((a, b) => b.cpuMs - a.cpuMs);
  if (worst) process.stdout.write(`The worst of ${measured.length} requests (seed ${seed}): ${describe(worst)}\n`);
}

function describe({ request, status, bytes, lookUps, cpuMs, grownMb }: Measurement): string {
  const figures = `${cpuMs.toFixed(0)} ms CPU, ${grownMb.toFixed(0)} MB`;
  const query = request.query.replace(/\s+/g, ' ').slice(0, 160);
  return `${figures}, ${status}, ${bytes} bytes, ${lookUps} look-ups: ${query}`;
}
