import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** One essay that was asked for, and is paid for from then on. */
export interface EssayCall {
  topic: string;
  /** What it is answered with; no two calls are answered alike. */
  essay: string;
  /** When all of the answer was sent, as `performance.now` tells it; null until then. */
  finishedAt: number | null;
}

export interface CountingEssayService {
  url: string;
  /** In the order of arrival. */
  calls: EssayCall[];
  callsFor(topic: string): EssayCall[];
  /** Once everything has arrived that was sent by a process which is no more. */
  nothingOnItsWay(): Promise<void>;
}

interface Options {
  /** Awaited by each call before it is answered. */
  write: (call: EssayCall) => Promise<void>;
  /** A call has arrived, or was answered in full. */
  onChanged?: () => void;
}

/** An essay service on a free loopback port that writes whatever is asked for, and keeps the books; gone when the test is. */
export async function tCountingEssayService({ write, onChanged = () => {} }: Options): Promise<CountingEssayService> {
  const calls: EssayCall[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(204, { connection: 'close' }).end();
    // Of one that breaks off meanwhile nothing is known, and it costs nothing.
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const topic = String(JSON.parse(body).description).split('\n')[0] ?? '';
    const call: EssayCall = { topic, essay: `${topic}, call ${calls.length + 1}. ${filler}`, finishedAt: null };
    calls.push(call);
    onChanged();
    await write(call);
    response.on('finish', () => {
      call.finishedAt = performance.now();
      onChanged();
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ essay: call.essay }));
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => {
      connections -= 1;
      server.emit('left');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    calls,
    callsFor: (topic) => calls.filter((call) => call.topic === topic),
    async nothingOnItsWay() {
      // Connections are taken in their order: behind this one there is none of those.
      await fetch(url);
      while (connections > 0) await once(server, 'left');
    },
  };
}

/** Makes it as long as essays are. */
const filler = 'A pen is a tool that leaves a thought where somebody else can find it. '.repeat(100);
