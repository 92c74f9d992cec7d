import type { Random } from '../e2e/random.ts';
import type { Measurement } from './measured-gateway.ts';
import type { FuzzRequest } from './requests.ts';
import type { Search } from './worst-answer.ts';

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

export function createMessageSearch(
  measure: (request: FuzzRequest) => Promise<Measurement>,
): Search<Message, Measurement> {
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
