import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { tHttpServer } from '../../loopback.ts';

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

/** One value of a metric. */
export interface ReceivedPoint {
  name: string;
  kind: 'gauge' | 'counter' | 'histogram' | 'other';
  unit: string;
  isCumulative: boolean;
  attributes: Record<string, unknown>;
  /** Of a histogram, its sum. */
  value: number;
  /** Of a histogram: counts by upper bounds, and one more count. */
  counts: number[];
  bounds: number[];
  resource: Record<string, unknown>;
}

interface ReceivedLine {
  time: number;
  severity: [number: number, text: string];
  body: string;
  attributes: Record<string, unknown>;
  traceId: string;
  resource: Record<string, unknown>;
}

export interface Collector {
  url: string;
  spans: ReceivedSpan[];
  points: ReceivedPoint[];
  lines: ReceivedLine[];
  requests: { path: string; headers: IncomingHttpHeaders; text: string }[];
  /** From now on, every request gets this status; null: no answer; 'endless': a response without an end. */
  answers(status: number | 'endless' | null): void;
}

/** An OTLP/HTTP collector that decodes what it receives. It stops when the test ends. */
export async function tCollector(certificate: { cert: string; key: string } | null = null): Promise<Collector> {
  let status: number | 'endless' | null = 200;
  const { url } = await tHttpServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    collector.requests.push({ path: request.url ?? '', headers: request.headers, text: body.toString('latin1') });
    if (status === 200 && request.url === '/v1/traces') collector.spans.push(...readItems(body, readSpan));
    if (status === 200 && request.url === '/v1/metrics') collector.points.push(...readItems(body, readPoints).flat());
    if (status === 200 && request.url === '/v1/logs') collector.lines.push(...readItems(body, readLine));
    if (status === 'endless') {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    } else if (status !== null) response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end();
  }, certificate);
  const collector: Collector = {
    url,
    spans: [],
    points: [],
    lines: [],
    requests: [],
    answers: (next) => {
      status = next;
    },
  };
  return collector;
}

/* Protobuf, as in https://github.com/open-telemetry/opentelemetry-proto: the numbers are those of the fields. */

type Resource = Record<string, unknown>;

function readItems<Item>(body: Buffer, read: (bytes: Buffer, resource: Resource) => Item): Item[] {
  return messages(body, 1).flatMap((ofResource) => {
    const resource = readAttributes(messages(messages(ofResource, 1)[0] ?? Buffer.alloc(0), 1));
    return messages(ofResource, 2).flatMap((ofScope) => messages(ofScope, 2).map((item) => read(item, resource)));
  });
}

function readSpan(bytes: Buffer, resource: Resource): ReceivedSpan {
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

function readPoints(bytes: Buffer, resource: Resource): ReceivedPoint[] {
  const text = (number: number) => messages(bytes, number)[0]?.toString() ?? '';
  const kinds = { 5: 'gauge', 7: 'counter', 9: 'histogram' } as const;
  return ([5, 7, 9] as const).flatMap((field) =>
    messages(bytes, field).flatMap((data) =>
      messages(data, 1).map((point) => ({
        name: text(1),
        unit: text(3),
        // The value of a counter never decreases.
        kind: field === 7 && numbers(data, 3)[0] !== 1n ? 'other' : kinds[field],
        isCumulative: numbers(data, 2)[0] === 2n,
        attributes: readAttributes(messages(point, field === 9 ? 9 : 7)),
        value: toDouble(numbers(point, field === 9 ? 5 : 4)[0]),
        counts: field === 9 ? packed(point, 6).map(Number) : [],
        bounds: field === 9 ? packed(point, 7).map(toDouble) : [],
        resource,
      })),
    ),
  );
}

/** Numbers of 8 bytes. */
function packed(bytes: Buffer, number: number): bigint[] {
  return messages(bytes, number).flatMap((list) =>
    Array.from({ length: list.length / 8 }, (_, index) => list.readBigUInt64LE(index * 8)),
  );
}

function toDouble(bits = 0n): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

function readLine(bytes: Buffer, resource: Resource): ReceivedLine {
  const [body] = messages(bytes, 5);
  return {
    time: Number((numbers(bytes, 1)[0] ?? 0n) / 1_000_000n),
    severity: [Number(numbers(bytes, 2)[0]), messages(bytes, 3)[0]?.toString() ?? ''],
    body: String(readValue(body)),
    attributes: readAttributes(messages(bytes, 6)),
    traceId: messages(bytes, 9)[0]?.toString('hex') ?? '',
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
  const [map] = messages(value, 6);
  if (map) return readAttributes(messages(map, 1));
  const [isTrue] = numbers(value, 2);
  if (isTrue !== undefined) return isTrue === 1n;
  const [double] = numbers(value, 4);
  return double === undefined ? Number(numbers(value, 3)[0]) : toDouble(double);
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
