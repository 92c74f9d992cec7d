import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { redisUrl } from '../../../../src/gateway/config/redis-url.ts';
import { createRedisStore } from '../../../../src/gateway/stores/redis-store.ts';
import { runCommand } from '../../command.ts';
import type { TRedis } from '../../redis.ts';
import { tFolder } from './folder.ts';

/** A store on that Redis, closed when the test ends. */
export function tRedisStore(url: string, { commandTimeoutMs = 200_000 } = {}) {
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

/** `ledgerquill check-config` sends PING, describes the Redis so, and writes neither to the store nor the password to its output. */
export async function expectPing({ url }: { url: string }, description: string, password: string): Promise<void> {
  const env = { REDIS_URL: url, STORE_SECRET: `${password}-of-the-store`, DATA_DIR: tFolder() };
  const { code, stdout, stderr } = await runCommand(['check-config'], env);
  expect(stdout).toContain(`REDIS_URL: ${description} responded to INFO`);
  expect(stdout).toContain('DATA_DIR: not written to, because REDIS_URL is set');
  expect(stdout).toMatch(/^ {2}REDIS_URL +.*:\/\/\*{8}@127\.0\.0\.1:/m);
  expect(stdout + stderr).not.toContain(password);
  expect(code).toBe(0);
}

/** Shortens all expiries, as if time had passed. */
export async function passTime(client: Redis, ms: number): Promise<void> {
  for (const key of await client.keys('*')) {
    const left = await client.pttl(key);
    await client.pexpireat(key, left > ms ? Date.now() + left - ms : 1);
  }
}
