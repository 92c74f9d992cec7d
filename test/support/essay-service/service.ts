import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';
import { createLog } from '../../../src/base/log.ts';
import { createEssayService } from '../../../src/essay-service/create-essay-service.ts';
import type { Writer, WritingOrder } from '../../../src/essay-service/writing-order.ts';
import { tHttpServer } from '../loopback.ts';
import { tGate } from '../turns.ts';

export const apiKey = 'a-secret-key';
export const body = { description: 'bees', mode: 'Standard', word_count: 100 };

/** The head of an order that is written to a socket. */
export const orderHead = (token: string, length: number) =>
  `POST /v2/generate/essay/ HTTP/1.1\r\nHost: x\r\nToken: ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** The service in front of a scripted writer that records its orders, with its log lines. The time is one hour before March. */
export function tService({
  monthlyAllowance = null as number | null,
  answer = async (_signal: AbortSignal, _onText?: (part: string) => void) => 'Bees are  insects.',
} = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2025-02-28T23:00:00Z') });
  const orders: WritingOrder[] = [];
  const writer: Writer = {
    kind: 'model',
    write(order, signal, onText) {
      orders.push(order);
      return answer(signal, onText);
    },
  };
  const lines: string[] = [];
  const log = createLog({ level: 'trace', redact: (line) => line, destination: { write: (line) => lines.push(line) } });
  const app = createEssayService({ apiKey, writer, monthlyAllowance, log });
  onTestFinished(() => app.close());
  const listen = () => app.listen({ host: '127.0.0.1', port: 0 });
  const connectTo = async (): Promise<Socket> => connect(Number(new URL(await listen()).port), '127.0.0.1');
  const post = (payload: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: '/v2/generate/essay/',
      headers: { token: apiKey, 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
  return { app, orders, lines, post, listen, connect: connectTo };
}

/** How the server responds. */
export type ChatScript =
  /** Streams the pieces as a model does. `bytesPerChunk` may split characters. */
  | { kind: 'stream'; pieces: readonly string[]; bytesPerChunk?: number; finish?: string }
  /** Streams exactly these events. */
  | { kind: 'events'; data: readonly string[] }
  /** Streams the start, then the piece repeatedly until the caller disconnects. */
  | { kind: 'endless'; start?: string; piece: string }
  /** Streams the pieces, then breaks the connection. */
  | { kind: 'cut'; pieces: readonly string[] }
  | { kind: 'json'; content: unknown; finish?: string }
  | { kind: 'status'; status: number; body: string }
  | { kind: 'body'; contentType: string; body: string }
  /** Accepts the request and never responds. */
  | { kind: 'silence' };

interface ChatCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: { model: string; stream: boolean; messages: { role: string; content: string }[] };
}

interface TChatServer {
  /** Base URL, for LLM_URL. */
  url: string;
  calls: ChatCall[];
  /** Resolves when the first request has arrived. */
  called: Promise<void>;
  /** Resolves when a caller disconnects before its answer is complete. */
  disconnected: Promise<void>;
}

/** An OpenAI-compatible chat endpoint on a free loopback port, closed after the test. The last script is repeated. */
export async function tChatServer(...scripts: [ChatScript, ...ChatScript[]]): Promise<TChatServer> {
  const calls: ChatCall[] = [];
  const called = tGate();
  const disconnected = tGate();
  const { url } = await tHttpServer(async (request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) disconnected.open();
    });
    const body = JSON.parse(await text(request));
    calls.push({ path: request.url ?? '', headers: request.headers, body });
    called.open();
    await play(scripts[Math.min(calls.length, scripts.length) - 1] ?? scripts[0], response);
  });
  return { url: `${url}/v1`, calls, called: called.opened, disconnected: disconnected.opened };
}

async function play(script: ChatScript, response: ServerResponse): Promise<void> {
  if (script.kind === 'silence') return;
  if (script.kind === 'status') {
    response.writeHead(script.status, { 'content-type': 'application/json' }).end(script.body);
    return;
  }
  if (script.kind === 'body') {
    response.writeHead(200, { 'content-type': script.contentType }).end(script.body);
    return;
  }
  if (script.kind === 'json') {
    const choice = { index: 0, message: { role: 'assistant', content: script.content }, finish_reason: script.finish };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [choice] }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  await stream(script, response);
}

async function stream(
  script: Extract<ChatScript, { kind: 'stream' | 'events' | 'endless' | 'cut' }>,
  response: ServerResponse,
): Promise<void> {
  if (script.kind === 'endless') {
    response.write(toEvent(toDelta(script.start ?? '')));
    while (!response.destroyed) {
      if (!response.write(toEvent(toDelta(script.piece))))
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
      // Lets the event loop notice that the caller disconnected.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return;
  }
  if (script.kind === 'events') {
    response.end(script.data.map(toEvent).join(''));
    return;
  }
  const deltas = script.pieces.map((piece) => toEvent(toDelta(piece)));
  if (script.kind === 'cut') {
    response.write(deltas.join(''), () => response.destroy());
    return;
  }
  const end = [
    JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: script.finish ?? 'stop' }] }),
    '[DONE]',
  ];
  const bytes = Buffer.from([...deltas, ...end.map(toEvent)].join(''));
  const step = script.bytesPerChunk ?? bytes.length;
  for (let at = 0; at < bytes.length && !response.destroyed; at += step) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + step), resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

function toDelta(piece: string): string {
  return JSON.stringify({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] });
}

function toEvent(data: string): string {
  return `data: ${data}\n\n`;
}
