import { expect, it } from 'vitest';
import { schema } from '../../src/gateway/graphql/schema/schema.ts';
import { createRandom } from '../support/e2e/random.ts';
import { attacks } from '../support/fuzz/attacks.ts';
import { type Measurement, type MeasureOptions, tMeasuredGateway } from '../support/fuzz/measured-gateway.ts';
import { createRequests, type FuzzRequest } from '../support/fuzz/requests.ts';
import { sha256 } from '../support/gateway/callers/identify.ts';
import { as, keyOf } from '../support/gateway/http/callers.ts';
import { noUpstreams } from '../support/gateway-process.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

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
