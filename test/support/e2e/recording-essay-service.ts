import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { tHttpServer } from '../loopback.ts';
import type { TRedis } from '../redis.ts';

/** A call for one essay, which is paid for from then on. */
interface EssayCall {
  topic: string;
  /** The essay of the answer, different for every call. */
  essay: string;
}

interface RecordingEssayService {
  url: string;
  /** In the order of arrival. */
  calls: EssayCall[];
  callsFor(topic: string): EssayCall[];
  /** Resolves when the first call has arrived. */
  untilCalled(): Promise<void>;
  /** Resolves when all calls of a process that has ended have arrived. */
  untilIdle(): Promise<void>;
}

interface Options {
  /** Each call is answered when this resolves. */
  write: (call: EssayCall) => Promise<void>;
  /** A call has arrived, or its whole answer was sent. */
  onChanged?: () => void;
}

/** An essay service on a free loopback port that records every call. It stops when the test ends. */
export async function tRecordingEssayService({ write, onChanged = () => {} }: Options): Promise<RecordingEssayService> {
  const calls: EssayCall[] = [];
  let connections = 0;
  const { server, url } = await tHttpServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(204, { connection: 'close' }).end();
    // An incomplete request costs nothing.
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const topic = String(JSON.parse(body).description).split('\n')[0] ?? '';
    const call: EssayCall = { topic, essay: `${topic}, call ${calls.length + 1}. ${filler}` };
    calls.push(call);
    server.emit('called');
    onChanged();
    await write(call);
    response.on('finish', onChanged);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ essay: call.essay }));
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => {
      connections -= 1;
      server.emit('left');
    });
  });

  return {
    url,
    calls,
    callsFor: (topic) => calls.filter((call) => call.topic === topic),
    async untilCalled() {
      while (calls.length === 0) await once(server, 'called');
    },
    async untilIdle() {
      // Connections are accepted in order: when this one is, all earlier ones are known.
      await fetch(url);
      while (connections > 0) await once(server, 'left');
    },
  };
}

/** Makes a text as long as essays are. */
const filler = 'A pen is a tool that leaves a thought where somebody else can find it. '.repeat(100);

interface OrderRequest {
  kind: 'change' | 'read';
  key: string;
  /** Address of the Redis client. */
  client: string;
}

/**
 * Monitors the changes of stored orders, and all reads, on a connection of its own: ioredis takes a command that is reported while
 * it enters the monitor mode for the response to one of its own, and fails.
 * @returns a function that resolves when there are enough
 */
export async function monitorOrderRequests(
  redis: TRedis,
): Promise<(isEnough: (requests: readonly OrderRequest[]) => boolean) => Promise<void>> {
  const requests: OrderRequest[] = [];
  const events = new EventEmitter();
  const socket = connect(redis.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const lines = createInterface(socket);
  socket.write('MONITOR\r\n');
  await once(lines, 'line');
  lines.on('line', (line) => {
    const [, client = ''] = /^\+[\d.]+ \[\d+ ([^\]]+)\]/.exec(line) ?? [];
    const [command = '', ...args] = Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, text = '']) => text);
    const isChange = command === 'eval' && args[0]?.includes('local seen, isSeen');
    const changed = isChange ? args.slice(2, 3) : [];
    const read = command === 'get' || command === 'mget' ? args : [];
    for (const key of changed) requests.push({ kind: 'change', key, client });
    for (const key of read) requests.push({ kind: 'read', key, client });
    events.emit('request');
  });
  return async (isEnough) => {
    while (!isEnough(requests)) await once(events, 'request');
  };
}

/** Whether one client has changed an order, and another one has read or changed the same order since. */
export function isSeenByTwo(requests: readonly OrderRequest[], kind?: OrderRequest['kind']): boolean {
  return requests.some(
    (first, index) =>
      first.kind === 'change' &&
      requests
        .slice(index + 1)
        .some(
          ({ key, client, ...other }) => key === first.key && client !== first.client && (!kind || other.kind === kind),
        ),
  );
}
