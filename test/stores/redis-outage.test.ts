import { describe, expect, it } from 'vitest';
import { tRedis, whyNoRedis } from '../redis.ts';
import { tRawClient, tRedisStore } from './redis-client.ts';

const hour = { expiresInMs: 3_600_000 };
const skip = whyNoRedis !== '';

describe.skipIf(skip)(`when Redis goes away${whyNoRedis}`, () => {
  it('says so once, fails at once, and works again when it is back, which it says once, too', async () => {
    const redis = await tRedis();
    // So long that the test would run out of time if anything waited for it.
    const { store, told, tells } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await store.set('key', 'value', hour);
    const lock = await store.lock('essay', hour);
    expect(store.isUp()).toBe(true);
    await redis.stop();
    await tells(['up', /^down: /]);
    expect(store.isUp()).toBe(false);
    const notConnected = { name: 'StoreError', reason: 'not connected' };
    for (let time = 0; time < 100; time++) await expect(store.get('key')).rejects.toMatchObject(notConnected);
    await expect(store.set('key', 'value', hour)).rejects.toMatchObject(notConnected);
    await expect(store.add('key', 1, hour)).rejects.toMatchObject(notConnected);
    await expect(store.lock('key', hour)).rejects.toMatchObject(notConnected);
    await expect(lock?.extend(hour)).rejects.toMatchObject(notConnected);
    await expect(lock?.release()).rejects.toMatchObject(notConnected);
    await redis.restart();
    await tells(['up', /^down: /, 'up']);
    expect(store.isUp()).toBe(true);
    expect(await store.get('key')).toBeNull();
    expect(await store.add('calls', 1, hour)).toBe(1);
    expect(await lock?.extend(hour)).toBe(false);
    expect(told).toHaveLength(3);
  });

  it('fails what was under way, and does not send it again', async () => {
    const redis = await tRedis();
    const { store, tells } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await store.add('calls', 1, hour);
    redis.freeze();
    const adds = Array.from({ length: 10 }, () => store.add('calls', 1, hour));
    const settled = Promise.allSettled(adds);
    await redis.restart();
    expect((await settled).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
    await tells(['up', /^down: /, 'up']);
    expect(await store.add('calls', 0, hour)).toBe(0);
  });

  it('lets one command wait for a Redis that is silent, and the next ones fail at once', async () => {
    const redis = await tRedis();
    const { store, tells } = tRedisStore(redis.url, { commandTimeoutMs: 1_500 });
    await store.set('key', 'value', hour);
    redis.freeze();
    const waiting = await Promise.allSettled([store.get('key'), store.get('key')]);
    for (const { status } of waiting) expect(status).toBe('rejected');
    await tells(['up', 'down: timed out']);
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
    redis.thaw();
    await tells(['up', 'down: timed out', 'up']);
    expect(await store.get('key')).toBe('value');
  });

  it('closes without it', async () => {
    const redis = await tRedis();
    const silent = tRedisStore(redis.url, { commandTimeoutMs: 1_500 });
    const lost = tRedisStore(redis.url);
    await Promise.all([silent.store.set('key', 'value', hour), lost.store.set('key', 'value', hour)]);
    redis.freeze();
    await silent.store.close();
    redis.thaw();
    await redis.stop();
    await lost.tells(['up', /^down: /]);
    await lost.store.close();
    expect(silent.told).toEqual(['up']);
    expect(silent.store.isUp()).toBe(false);
  });
});

describe.skipIf(skip)(`how the Redis store starts${whyNoRedis}`, () => {
  it('works without Redis, says once that it is not there, and takes it when it comes', async () => {
    const redis = await tRedis();
    await redis.stop();
    const { store, tells } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await expect(store.get('key')).rejects.toMatchObject({ name: 'StoreError', reason: 'not connected' });
    await tells(['down: ECONNREFUSED']);
    await redis.restart();
    await tells(['down: ECONNREFUSED', 'up']);
    expect(await store.get('key')).toBeNull();
  });

  it('gets in with a password, also one that a URL has to encode', async () => {
    const redis = await tRedis({ password: 'p%40ss%2Fword' });
    const encoded = redis.url.replaceAll('%', '%25');
    const { store } = tRedisStore(encoded);
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it.each([
    ['a wrong password', (url: string) => url.replace('right', 'wrong-secret'), 'WRONGPASS'],
    ['no password', (url: string) => url.replace(':right@', ''), 'NOAUTH'],
    ['a user that is not there', (url: string) => url.replace(':right', 'somebody:secret'), 'WRONGPASS'],
    ['a database that is not there', (url: string) => `${url}/99`, 'ERR'],
  ])('takes %s for a Redis that is away', async (_, change, reason) => {
    const { url } = await tRedis({ password: 'right' });
    const { store, told, tells } = tRedisStore(change(url));
    await expect(store.set('key', 'value', hour)).rejects.toMatchObject({ reason: 'not connected' });
    await tells([`down: ${reason}`]);
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
    expect(store.isUp()).toBe(false);
    expect(told).toHaveLength(1);
  });

  it('uses the database that the URL names', async () => {
    const redis = await tRedis();
    await tRedisStore(`${redis.url}/3`).store.set('key', 'value', hour);
    expect(await tRedisStore(redis.url).store.get('key')).toBeNull();
    expect(await tRawClient({ ...redis, url: `${redis.url}/3` }).keys('*')).toHaveLength(1);
  });
});
