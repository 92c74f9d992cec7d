import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { apiKey, body, tService } from '../../support/self-hosted/essays/service.ts';

describe('a caller that disconnects', () => {
  it('stops the writer, does not use up the allowance and is not logged', async () => {
    const signals: AbortSignal[] = [];
    const started = createMoment();
    const stopped = createMoment();
    const { app, post, lines } = tService({
      monthlyAllowance: 1,
      answer: async (signal) => {
        signals.push(signal);
        if (signals.length > 1) return 'Written.';
        started.happens();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason);
            stopped.happens();
          });
        });
      },
    });
    const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const caller = connect(Number(port), hostname);
    const payload = JSON.stringify(body);
    caller.write(
      `POST /v2/generate/essay/ HTTP/1.1\r\nHost: x\r\nToken: ${apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`,
    );
    await started.moment;
    expect(signals[0]?.aborted).toBe(false);
    caller.destroy();
    await stopped.moment;
    expect((await post(body)).statusCode).toBe(200);
    expect(lines).toEqual([]);
  });

  it('is not confused with one that has only sent its body', async () => {
    const seen: boolean[] = [];
    const { app } = tService({
      answer: async (signal) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(signal.aborted);
        return 'Written.';
      },
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${url}/v2/generate/essay/`, {
      method: 'POST',
      headers: { token: apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await answer.json()).toEqual({ essay: 'Written.', word_count: 1 });
    expect(seen).toEqual([false]);
  });
});

function createMoment(): { moment: Promise<void>; happens(): void } {
  const arrived = new AbortController();
  const moment = new Promise<void>((resolve) => arrived.signal.addEventListener('abort', () => resolve()));
  return { moment, happens: () => arrived.abort() };
}
