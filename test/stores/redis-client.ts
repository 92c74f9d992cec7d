import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { createRedisStore } from '../../src/stores/redis-store.ts';
import type { TRedis } from '../redis.ts';

/** A store on that Redis, which is closed with the test. */
export function tRedisStore(url: string, { commandTimeoutMs = 10_000 } = {}) {
  const told: string[] = [];
  const telling = new EventEmitter();
  const tell = (line: string) => {
    told.push(line);
    telling.emit('told');
  };
  const store = createRedisStore({
    url,
    commandTimeoutMs,
    onDown: (reason) => tell(`down: ${reason}`),
    onUp: () => tell('up'),
  });
  onTestFinished(() => store.close());
  return {
    store,
    /** What was told of the connection so far. */
    told,
    /** Waits until that much was told, and expects it to be this. */
    async tells(lines: (string | RegExp)[]) {
      while (told.length < lines.length) await once(telling, 'told');
      expect(told).toEqual(lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
    },
  };
}

/** A client that looks past the store. */
export function tRawClient({ url }: TRedis): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}
