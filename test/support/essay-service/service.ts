import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { createLog } from '../../../src/base/log.ts';
import { createEssayService } from '../../../src/essay-service/create-essay-service.ts';
import type { Writer, WritingOrder } from '../../../src/essay-service/writing-order.ts';

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
