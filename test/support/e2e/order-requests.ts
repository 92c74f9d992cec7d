import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { TRedis } from '../redis.ts';

export interface OrderRequest {
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
