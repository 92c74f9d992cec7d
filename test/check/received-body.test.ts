import { PassThrough } from 'node:stream';
import { beforeEach, expect, it, vi } from 'vitest';
import { type BodyProblem, receiveBody } from '../../src/check/endpoint/received-body.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

/** A body that is read, and how it ended. */
function tBody() {
  const request = new PassThrough();
  request.on('error', () => {});
  const isFragmented = () => false;
  let received = 0;
  const ended = new Promise<BodyProblem | null>((onEnd) => {
    const onChunk = async (chunk: Buffer) => {
      received += chunk.length;
    };
    void receiveBody(request, { maxBytes: 10_000_000, clientTimeoutMs: 20_000, isFragmented, onChunk, onEnd });
  });
  return { request, ended, received: () => received };
}

/** Sends so many bytes every five seconds until the time is over. @returns the seconds after which it was disconnected */
async function send(request: PassThrough, bytes: number, seconds: number): Promise<number | null> {
  for (let second = 0; second < seconds; second += 5) {
    if (request.destroyed) return second;
    request.write(Buffer.alloc(bytes));
    await vi.advanceTimersByTimeAsync(5_000);
  }
  return null;
}

it.each([
  ['one byte', 1, 25],
  ['four kilobytes', 4_000, 100],
])('that arrives with %s in five seconds is disconnected', async (_, bytes, after) => {
  const { request, ended } = tBody();
  expect(await send(request, bytes, 3_600)).toBe(after);
  expect(await ended).toBe('cut-off');
});

it('that arrives with a kilobyte a second is read to its end, however long it takes', async () => {
  const { request, ended, received } = tBody();
  expect(await send(request, 5_000, 3_600)).toBeNull();
  request.end();
  expect(await ended).toBeNull();
  expect(received()).toBe(3_600_000);
});

it('that stops is disconnected, however much arrived before', async () => {
  const { request } = tBody();
  request.write(Buffer.alloc(1_000_000));
  await vi.advanceTimersByTimeAsync(19_000);
  expect(request.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(request.destroyed).toBe(true);
});
