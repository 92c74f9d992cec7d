import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callsOf } from '../../support/gateway/stores/store-contract.ts';
import { tRawClient, tRedis, tRedisProcess, tRedisStore, whyNoRedis } from '../../support/redis.ts';

const hour = { expiresInMs: 3_600_000 };

describe.skipIf(whyNoRedis)(`an outage of Redis${whyNoRedis}`, () => {
  it('fires one event, makes calls fail at once, and ends with another event', async () => {
    const redis = await tRedis();
    // The test would time out if a call waited that long.
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await store.set('key', 'value', hour);
    expect(store.isUp()).toBe(true);
    await redis.stop();
    await expectEvents(['up', /^down: /]);
    expect(store.isUp()).toBe(false);
    const notConnected = { name: 'StoreError', reason: 'not connected' };
    for (let time = 0; time < 100; time++) await expect(store.get('key')).rejects.toMatchObject(notConnected);
    for (const call of callsOf(store, 'key')) await expect(call()).rejects.toMatchObject(notConnected);
    await redis.restart();
    await expectEvents(['up', /^down: /, 'up']);
    expect(store.isUp()).toBe(true);
    expect(await store.get('key')).toBeNull();
    expect((await store.add('calls', 1, hour)).sum).toBe(1);
  });

  it('fails pending commands, which are not sent again', async () => {
    const redis = await tRedis();
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await store.add('calls', 1, hour);
    redis.freeze();
    const adds = Array.from({ length: 10 }, () => store.add('calls', 1, hour));
    const settled = Promise.allSettled(adds);
    await redis.restart();
    expect((await settled).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
    await expectEvents(['up', /^down: /, 'up']);
    expect((await store.add('calls', 0, hour)).sum).toBe(0);
  });

  it('without a closed connection is detected by the first timeout', async () => {
    const redis = await tRedis();
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 1_500 });
    await store.set('key', 'value', hour);
    redis.freeze();
    const waiting = await Promise.allSettled([store.get('key'), store.get('key')]);
    for (const { status } of waiting) expect(status).toBe('rejected');
    await expectEvents(['up', 'down: timed out']);
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
    redis.thaw();
    await expectEvents(['up', 'down: timed out', 'up']);
    expect(await store.get('key')).toBe('value');
  });

  it('is not assumed because the process was busy for longer than a command may take', async () => {
    // Not through the proxy of this process, which is busy.
    const redis = await tRedisProcess();
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 2_000 });
    await store.set('key', 'value', hour);
    const reading = store.get('key');
    // It was sent.
    await setImmediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100);
    expect(await reading).toBe('value');
    await expectEvents(['up']);
  });

  it('is not assumed while Redis answers the commands that were sent before', async () => {
    const redis = await tRedis();
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 3_000 });
    await store.set('key', 'value', hour);
    // The second is sent when the first was answered: it takes longer than 3 s.
    redis.setDelay(2_000);
    const first = store.get('key');
    await setImmediate();
    expect(await Promise.all([first, store.get('key')])).toEqual(['value', 'value']);
    await expectEvents(['up']);
  });

  it('ends when a server that became a replica is a master again, or is replaced', async () => {
    const redis = await tRedis();
    const client = tRawClient(redis);
    const { store, expectEvents } = tRedisStore(redis.url);
    await store.set('key', 'value', hour);
    await client.replicaof('127.0.0.1', 1);
    // Scripts have a message of their own.
    await expect(store.add('calls', 1, hour)).rejects.toMatchObject({ reason: 'READONLY' });
    await expectEvents(['up', 'down: READONLY', 'up']);
    await expect(store.set('key', 'other', hour)).rejects.toMatchObject({ reason: 'READONLY' });
    // It does not connect again for each write.
    await expectEvents(['up', 'down: READONLY', 'up']);
    await client.replicaof('NO', 'ONE');
    expect((await store.add('calls', 1, hour)).sum).toBe(1);
  });

  it('does not prevent closing', async () => {
    const redis = await tRedis();
    const silent = tRedisStore(redis.url, { commandTimeoutMs: 1_500 });
    const lost = tRedisStore(redis.url);
    await Promise.all([silent.store.set('key', 'value', hour), lost.store.set('key', 'value', hour)]);
    redis.freeze();
    await silent.store.close();
    redis.thaw();
    await redis.stop();
    await lost.expectEvents(['up', /^down: /]);
    await lost.store.close();
    expect(silent.events).toEqual(['up']);
    expect(silent.store.isUp()).toBe(false);
  });
});

describe.skipIf(whyNoRedis)(`the start of the Redis store${whyNoRedis}`, () => {
  it('works without Redis, fires one event, and connects later', async () => {
    const redis = await tRedis();
    await redis.stop();
    const { store, expectEvents } = tRedisStore(redis.url, { commandTimeoutMs: 600_000 });
    await expect(store.get('key')).rejects.toMatchObject({ name: 'StoreError', reason: 'not connected' });
    await expectEvents(['down: ECONNREFUSED']);
    await redis.restart();
    await expectEvents(['down: ECONNREFUSED', 'up']);
    expect(await store.get('key')).toBeNull();
  });

  it('authenticates, also with a password that needs encoding in a URL', async () => {
    const redis = await tRedis({ password: 'p%40ss%2Fword' });
    const { store } = tRedisStore(redis.url.replaceAll('%', '%25'));
    await store.set('key', 'value', hour);
    expect(await store.get('key')).toBe('value');
  });

  it.each([
    ['a wrong password', (url: string) => url.replace('right', 'wrong-secret'), 'WRONGPASS'],
    ['no password', (url: string) => url.replace(':right@', ''), 'NOAUTH'],
    ['an unknown user', (url: string) => url.replace(':right', 'unknown:secret'), 'WRONGPASS'],
    ['an unknown database', (url: string) => `${url}/99`, 'ERR'],
  ])('treats %s as an outage', async (_, change, reason) => {
    const { url } = await tRedis({ password: 'right' });
    const { store, events, expectEvents } = tRedisStore(change(url));
    await expect(store.set('key', 'value', hour)).rejects.toMatchObject({ reason: 'not connected' });
    await expectEvents([`down: ${reason}`]);
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
    expect(store.isUp()).toBe(false);
    expect(events).toHaveLength(1);
  });

  it('uses the configured database', async () => {
    const redis = await tRedis();
    await tRedisStore(`${redis.url}/3`).store.set('key', 'value', hour);
    expect(await tRedisStore(redis.url).store.get('key')).toBeNull();
    expect(await tRawClient({ ...redis, url: `${redis.url}/3` }).keys('*')).toHaveLength(1);
  });
});

it('a reply that is nested 10,000 deep fails its command, and the connection begins again', async () => {
  const deep = `${'*1\r\n'.repeat(10_000)}:1\r\n`;
  const replies = [deep, '$5\r\nvalue\r\n'];
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        for (const [, command] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          socket.write(
            command === 'get' ? (replies.shift() ?? '') : command === 'info' ? '$9\r\nloading:0\r\n' : '+OK\r\n',
          );
        }
      });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { store, expectEvents } = tRedisStore(`redis://127.0.0.1:${port}`, { commandTimeoutMs: 600_000 });
  await expect(store.get('key')).rejects.toMatchObject({ name: 'StoreError' });
  await expectEvents(['up', /^down: /, 'up']);
  expect(await store.get('key')).toBe('value');
});
