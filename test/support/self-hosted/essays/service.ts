import { onTestFinished, vi } from 'vitest';
import { createEssayService } from '../../../../src/self-hosted/essays/create-essay-service.ts';
import type { EssayWriter, WritingOrder } from '../../../../src/self-hosted/essays/writing-order.ts';
import { createLog } from '../../../../src/telemetry/log.ts';

export const apiKey = 'a-secret-key';
export const body = { description: 'bees', mode: 'Standard', word_count: 100 };

/** Records the orders and writes what `answer` returns. */
function tWriter(answer: (signal: AbortSignal) => Promise<string> = async () => 'Bees are  insects.') {
  const orders: WritingOrder[] = [];
  const writer: EssayWriter = {
    write: (order, signal) => {
      orders.push(order);
      return answer(signal);
    },
  };
  return { orders, writer };
}

/** The service in front of a scripted writer, with its log lines. The time is one hour before March. */
export function tService({
  monthlyAllowance = null as number | null,
  answer = undefined as Parameters<typeof tWriter>[0],
} = {}) {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2025-02-28T23:00:00Z') });
  const { orders, writer } = tWriter(answer);
  const lines: string[] = [];
  const log = createLog({ level: 'trace', redact: (line) => line, destination: { write: (line) => lines.push(line) } });
  const app = createEssayService({ apiKey, writer, monthlyAllowance, log });
  onTestFinished(async () => {
    await app.close();
  });
  const post = (payload: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: '/v2/generate/essay/',
      headers: { token: apiKey, 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
  return { app, orders, lines, post };
}
