import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { TRedis } from '../redis.ts';

export interface LockRequest {
  key: string;
  /** Address of the Redis client. */
  client: string;
}

/**
 * Monitors the lock requests of all clients, on a connection of its own: ioredis takes a command that is reported while
 * it enters the monitor mode for the response to one of its own, and fails.
 * @returns a function that resolves when there are enough
 */
export async function monitorLockRequests(
  redis: TRedis,
): Promise<(isEnough: (requests: readonly LockRequest[]) => boolean) => Promise<void>> {
  const requests: LockRequest[] = [];
  const events = new EventEmitter();
  const socket = connect(redis.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const lines = createInterface(socket);
  socket.write('MONITOR\r\n');
  await once(lines, 'line');
  lines.on('line', (line) => {
    const [, client = ''] = /^\+[\d.]+ \[\d+ ([^\]]+)\]/.exec(line) ?? [];
    const [command, key = '', ...rest] = Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, text]) => text);
    if (command?.toLowerCase() !== 'set' || rest.at(-1) !== 'NX') return;
    requests.push({ key, client });
    events.emit('request');
  });
  return async (isEnough) => {
    while (!isEnough(requests)) await once(events, 'request');
  };
}
