import { expect, it } from 'vitest';
import { type FuzzRequest, type Measurement, tMeasuredGateway } from '../support/fuzz/measured-gateway.ts';
import { createAnswerSearch, findWorst, type Search } from '../support/fuzz/worst-answer.ts';
import { createRandom, type Random } from '../support/random.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/* Messages for POST /mcp that may take long to validate: a value that is repeated, in some place of a message. */

interface Message {
  method: number;
  place: number;
  value: number;
  count: number;
  depth: number;
  edition: number;
}

const methods = ['initialize', 'tools/list', 'tools/call', 'ping', 'tasks/get', 'server/discover', 'unknown'];
const editions = ['2025-11-25', '2026-07-28'];

const places: readonly ((value: unknown) => object)[] = [
  (value) => ({ capabilities: { experimental: value } }),
  (value) => ({ capabilities: value, clientInfo: { name: 'a', version: '1' }, protocolVersion: '2025-11-25' }),
  (value) => ({ clientInfo: value, capabilities: {}, protocolVersion: '2025-11-25' }),
  (value) => ({ name: 'check_ibans', arguments: { ibans: value } }),
  (value) => ({ name: 'iban_format', arguments: value }),
  (value) => ({ name: 'iban_format', arguments: { iban: 'DE89370400440532013000' }, inputResponses: value }),
  (value) => ({ name: 'order_essay', arguments: { description: 'Pens', wordCount: 1, titles: value } }),
  (value) => ({ _meta: { progressToken: value } }),
  (value) => ({ requestState: JSON.stringify(value) }),
  (value) => ({ cursor: value, taskId: value }),
];

const values: readonly ((count: number) => unknown)[] = [
  (count) => Array(count).fill({}),
  (count) => Array(count).fill(1),
  (count) => Array(count).fill('DE89370400440532013000'),
  (count) => Array.from({ length: count }, (_, index) => `DE8937040044053201${index % 10_000}`),
  (count) => Array(count).fill([null]),
  (count) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, {}])),
  (count) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index])),
  (count) => Array(count).fill({ type: 'text', text: 'a', name: 'b' }),
  (count) => 'a'.repeat(count),
  (count) => '"\u0001'.repeat(count),
];

function createMessageSearch(measure: (request: FuzzRequest) => Promise<Measurement>): Search<Message, Measurement> {
  return { create, change, measure: (message) => measure(write(message)) };
}

function create(random: Random): Message {
  return {
    method: random(methods.length - 1),
    place: random(places.length - 1),
    value: random(values.length - 1),
    count: 2 ** random(14),
    depth: 2 ** random(5) - 1,
    edition: random(editions.length - 1),
  };
}

function change(message: Message, random: Random): Message {
  switch (random(6)) {
    case 0:
      return { ...message, method: random(methods.length - 1) };
    case 1:
      return { ...message, place: random(places.length - 1) };
    case 2:
      return { ...message, value: random(values.length - 1) };
    case 3:
      return { ...message, count: Math.ceil(message.count * 1.3) };
    case 4:
      return { ...message, count: Math.ceil(message.count / 2) };
    case 5:
      return { ...message, depth: random(30) };
    default:
      return { ...message, edition: random(editions.length - 1) };
  }
}

function write({ method, place, value, count, depth, edition }: Message): FuzzRequest {
  let nested = values[value]?.(count);
  for (let level = 0; level < depth; level += 1) nested = level % 2 === 0 ? [nested] : { a: nested };
  const version = editions[edition];
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { ...(edition === 1 && { _meta: meta }), ...places[place]?.(nested) };
  const name = methods[method] ?? '';
  const message = { jsonrpc: '2.0', id: 1, method: name, params };
  const shown = `${name}, ${version}: ${depth} levels around ${count} x ${JSON.stringify(values[value]?.(1))} in place ${place}`;
  return { query: shown, variables: {}, message };
}

/*
 * No answer blocks the event loop for more than 25 ms alone (100 ms of CPU on a busy machine), has more than 8 MB, or takes the
 * gateway over 300 MiB. A longer search:
 *   LONG_TESTS=1 FUZZ_ANSWERS=2000 FUZZ_SEED=7 npx vitest run test/long/worst-answer.test.ts
 */

const { FUZZ_ANSWERS, FUZZ_SEED } = process.env;
const requests = Number(FUZZ_ANSWERS ?? 45);
const seed = Number(FUZZ_SEED ?? 3);
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
