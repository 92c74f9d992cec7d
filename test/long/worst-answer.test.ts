import { expect, it } from 'vitest';
import { createRandom } from '../support/e2e/random.ts';
import { type Measurement, tMeasuredGateway } from '../support/fuzz/measured-gateway.ts';
import type { FuzzRequest } from '../support/fuzz/requests.ts';
import { createAnswerSearch, findWorst } from '../support/fuzz/worst-answer.ts';
import { createMessageSearch } from '../support/fuzz/worst-message.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/*
 * No answer blocks the event loop for more than 25 ms alone (100 ms of CPU on a busy machine), has more than 8 MB, or takes the
 * gateway over 300 MiB. A longer search:
 *   LONG_TESTS=1 FUZZ_ANSWERS=2000 FUZZ_SEED=7 npx vitest run test/long/worst-answer.test.ts
 */

const { FUZZ_ANSWERS, FUZZ_SEED } = process.env;
const requests = Number(FUZZ_ANSWERS ?? 45);
const seed = Number(FUZZ_SEED ?? 1);
const heapMb = 384;
const targetBlockMs = 25;
const maxBlockMs = 100;
const maxBytes = 8_000_000;
const maxPeakMb = (300 * 1_024 * 1_024) / 1e6;

const figures = {
  block: ({ blockMs }: Measurement) => blockMs,
  bytes: ({ bytes }: Measurement) => bytes,
  memory: ({ peakMb }: Measurement) => peakMb,
};

it(`the worst answers stay within limits (seed ${seed})`, { timeout: 300_000 + requests * 2_000 }, async () => {
  const upstream = await tUpstream(replyJson(200, { valid: true, data: [], essay: 'Pens hold ink. '.repeat(6_000) }));
  const urls = { BANK_DATA_URL: upstream.url, ESSAY_URL: upstream.url };
  const credentials = { BANK_DATA_API_KEY: 'seeded-key-of-bank-data', ESSAY_API_KEY: 'seeded-key-of-essays' };
  const gateway = await tMeasuredGateway({ ...urls, ...credentials }, heapMb);
  for (let order = 0; order < 20; order += 1) await gateway.measure(startEssay(order));

  const random = createRandom(seed);
  const statuses = new Set<number>();
  const measureAll = async (request: FuzzRequest) => {
    const measured = await measureLeast(request);
    statuses.add(measured.status);
    return measured;
  };
  const search = createAnswerSearch(measureAll);
  const worst: Record<string, Measurement> = {};
  for (const [name, weigh] of Object.entries(figures)) {
    worst[name] = await findWorst(search, weigh, Math.ceil(requests / 3), random);
    if (FUZZ_ANSWERS !== undefined) process.stdout.write(`${name}: ${describe(worst[name])}\n`);
  }

  const message = await findWorst(createMessageSearch(measureAll), figures.block, Math.ceil(requests / 3), random);
  worst.message = message;
  if (FUZZ_ANSWERS !== undefined) process.stdout.write(`message: ${describe(message)}\n`);

  // A search that reaches no large answer would find nothing.
  expect(worst.bytes?.bytes).toBeGreaterThan(200_000);
  expect(worst.block?.blockMs).toBeGreaterThan(0);
  // A longer search reaches documents that are refused as too large.
  for (const status of statuses) expect(status).toBeOneOf([200, 400, 403, 404, 413]);
  expect(statuses).toContain(200);
  const all = Object.values(worst);
  const exceeding = all.filter((one) => one.blockMs > maxBlockMs || one.bytes > maxBytes || one.peakMb > maxPeakMb);
  expect(exceeding.map(describe)).toEqual([]);

  /** A garbage collection or a compilation may fall into any request; one that blocks does it every time. */
  async function measureLeast(request: Parameters<typeof gateway.measure>[0]): Promise<Measurement> {
    let least = await gateway.measure(request, { watches: true });
    for (let retry = 0; retry < 2 && least.blockMs > targetBlockMs; retry += 1) {
      const again = await gateway.measure(request, { watches: true });
      const peakMb = Math.max(again.peakMb, least.peakMb);
      least = { ...again, blockMs: Math.min(again.blockMs, least.blockMs), peakMb };
    }
    return least;
  }
});

function startEssay(order: number) {
  const query = `mutation ($input: StartEssayInput!) { startEssay(input: $input) { __typename } }`;
  const description = `${order} ${'"\u0001'.repeat(4_990)}`;
  return { query, variables: { input: { description, wordCount: 10, idempotencyKey: `order-${order}` } } };
}

function describe({ request, status, bytes, cpuMs, blockMs, peakMb }: Measurement): string {
  const figures = `block ${blockMs.toFixed(1)} ms, ${cpuMs.toFixed(0)} ms CPU, RSS ${peakMb.toFixed(0)} MB, ${bytes} bytes`;
  return `${figures}, ${status}: ${request.query.replaceAll(/a{60}/g, 'a…').slice(0, 200)}`;
}
