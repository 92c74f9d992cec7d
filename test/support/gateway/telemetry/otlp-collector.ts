import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { tHttpServer } from '../../free-port.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty: it is a root. */
  parentId: string;
  traceState: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'other';
  durationMs: number;
  attributes: Record<string, unknown>;
  isError: boolean;
  /** Of the process that sent it. */
  resource: Record<string, unknown>;
}

export interface Collector {
  url: string;
  spans: ReceivedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; text: string }[];
  /** From now on, every request gets this status; null: no answer; 'endless': a response without an end. */
  answers(status: number | 'endless' | null): void;
}

/** An OTLP/HTTP collector that decodes the spans it receives. It stops when the test ends. */
export async function tCollector(): Promise<Collector> {
  let status: number | 'endless' | null = 200;
  const { url } = await tHttpServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    collector.requests.push({ path: request.url ?? '', headers: request.headers, text: body.toString('latin1') });
    if (status === 200) collector.spans.push(...readSpans(body));
    if (status === 'endless') {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    } else if (status !== null) response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
  });
  const collector: Collector = {
    url,
    spans: [],
    requests: [],
    answers: (next) => {
      status = next;
    },
  };
  return collector;
}

/* Protobuf, as in https://github.com/open-telemetry/opentelemetry-proto: the numbers are those of the fields. */

function readSpans(body: Buffer): ReceivedSpan[] {
  return messages(body, 1).flatMap((resourceSpans) => {
    const resource = readAttributes(messages(messages(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1));
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => readSpan(span, resource)),
    );
  });
}

function readSpan(bytes: Buffer, resource: ReceivedSpan['resource']): ReceivedSpan {
  const field = (number: number) => messages(bytes, number)[0] ?? Buffer.alloc(0);
  const [kind] = numbers(bytes, 6);
  const [startedAt = 0n] = numbers(bytes, 7);
  const [endedAt = 0n] = numbers(bytes, 8);
  return {
    traceId: field(1).toString('hex'),
    spanId: field(2).toString('hex'),
    traceState: field(3).toString(),
    parentId: field(4).toString('hex'),
    name: field(5).toString(),
    kind: (['other', 'internal', 'server', 'client'] as const)[Number(kind)] ?? 'other',
    durationMs: Number(endedAt - startedAt) / 1e6,
    attributes: readAttributes(messages(bytes, 9)),
    isError: numbers(field(15), 3)[0] === 2n,
    resource,
  };
}

function readAttributes(pairs: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map((pair) => [messages(pair, 1)[0]?.toString(), readValue(messages(pair, 2)[0])]));
}

function readValue(value: Buffer = Buffer.alloc(0)): unknown {
  const [text] = messages(value, 1);
  const [list] = messages(value, 5);
  if (text) return text.toString();
  if (list) return messages(list, 1).map((item) => readValue(item));
  return Number(numbers(value, 3)[0]);
}

const messages = (bytes: Buffer, number: number) =>
  valuesOf(bytes, number).filter((value) => typeof value !== 'bigint');
const numbers = (bytes: Buffer, number: number) => valuesOf(bytes, number).filter((value) => typeof value === 'bigint');
const valuesOf = (bytes: Buffer, number: number) =>
  [...readFields(bytes)].flatMap(([found, value]) => (found === number ? [value] : []));

function* readFields(bytes: Buffer): Generator<[number: number, value: bigint | Buffer]> {
  let position = 0;
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(position++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const read = (length: number) => {
    position += length;
    return bytes.subarray(position - length, position);
  };
  while (position < bytes.length) {
    const tag = Number(readVarint());
    const type = tag & 7;
    if (type === 0) yield [tag >> 3, readVarint()];
    else if (type === 1) yield [tag >> 3, read(8).readBigUInt64LE()];
    else if (type === 5) yield [tag >> 3, BigInt(read(4).readUInt32LE())];
    else yield [tag >> 3, read(Number(readVarint()))];
  }
}
