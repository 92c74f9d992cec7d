import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { redisUrl } from '../../../../src/gateway/config/redis-url.ts';
import { createRedisStore } from '../../../../src/gateway/stores/redis-store.ts';
import type { TRedis } from '../../redis.ts';

/** A store on that Redis, closed when the test ends. */
export function tRedisStore(url: string, { commandTimeoutMs = 10_000 } = {}) {
  const events: string[] = [];
  const emitter = new EventEmitter();
  const record = (event: string) => {
    events.push(event);
    emitter.emit('event');
  };
  const store = createRedisStore({
    server: redisUrl.parse(url),
    commandTimeoutMs,
    events: { storeDown: (reason) => record(`down: ${reason}`), storeUp: () => record('up') },
  });
  onTestFinished(() => store.close());
  return {
    store,
    /** The connection events so far. */
    events,
    /** Waits for as many events, and expects them to match. */
    async expectEvents(expected: (string | RegExp)[]) {
      while (events.length < expected.length) await once(emitter, 'event');
      expect(events).toEqual(
        expected.map((event) => (typeof event === 'string' ? event : expect.stringMatching(event))),
      );
    },
  };
}

/** A client that bypasses the store. */
export function tRawClient({ url }: Pick<TRedis, 'url'>): Redis {
  // Commands fail, too, and ioredis prints errors without a listener.
  const client = new Redis(url).on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** Shortens all expiries, as if time had passed. */
export async function passTime(client: Redis, ms: number): Promise<void> {
  for (const key of await client.keys('*')) {
    const left = await client.pttl(key);
    await client.pexpireat(key, left > ms ? Date.now() + left - ms : 1);
  }
}
