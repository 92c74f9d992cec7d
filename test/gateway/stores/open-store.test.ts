import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StoreFailure } from '../../../src/base/errors.ts';
import { redisUrl } from '../../../src/gateway/config/redis-url.ts';
import { openStore } from '../../../src/gateway/stores/open-store.ts';
import { StoreError } from '../../../src/gateway/stores/store.ts';
import { tDisk, whyNoMount } from '../../support/gateway/stores/folder.ts';
import { tRawClient, tRedis, whyNoRedis } from '../../support/redis.ts';

/* What the gateway knows of its store. A store works if it is connected and its last write succeeded. */

const hour = { expiresInMs: 3_600_000 };

afterEach(() => {
  vi.useRealTimers();
});

/** The probes of a store that fails are made when the test advances the time. */
function tOpened(redis: string | null, folder = '/dev/null') {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const events: string[] = [];
  const changes: (readonly string[])[] = [];
  const opened = openStore(
    { redis: redis === null ? null : redisUrl.parse(redis), secret: 'a-secret', replicas: 1 },
    folder,
    {
      storeDown: (failure, reason) => events.push(`down: ${failure}, ${reason}`),
      storeUp: () => events.push('up'),
      storeFailed: (failure) => events.push(failure),
      storeRisksChanged: (risks) => changes.push(risks),
    },
  );
  opened.onRecovered(() => events.push('recovered'));
  onTestFinished(() => opened.store.close());
  return { ...opened, events, changes };
}

describe.skipIf(whyNoRedis)(`a store on Redis${whyNoRedis}`, () => {
  it('is not safe while Redis evicts, or does not write to disk, which is seen at the start and every minute', async () => {
    const redis = await tRedis({ isDurable: true });
    const client = tRawClient(redis);
    await client.config('SET', 'appendonly', 'no');
    const { risks, changes } = tOpened(redis.url);
    await expect.poll(risks).toEqual(['no_aof']);
    vi.advanceTimersByTime(60_000);
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    vi.advanceTimersByTime(60_000);
    await expect.poll(risks).toEqual(['eviction', 'no_aof']);
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    await client.config('SET', 'appendonly', 'yes');
    vi.advanceTimersByTime(60_000);
    await expect.poll(risks).toEqual([]);
    expect(changes).toEqual([['no_aof'], ['eviction', 'no_aof'], []]);
  });

  it('is read-only while Redis is a replica: one event for the outage, however often it connects again', async () => {
    const redis = await tRedis();
    const client = tRawClient(redis);
    const { store, failure, events } = tOpened(redis.url);
    await store.set('key', 'value', hour);
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
    const before = await connections();
    await client.replicaof('127.0.0.1', 1);
    await vi.waitUntil(
      async () => {
        await store.set('key', 'value', hour).catch(() => {});
        return (await connections()) >= before + 3;
      },
      { interval: 50, timeout: 100_000 },
    );
    expect(failure()).toBe('read-only');
    await client.replicaof('NO', 'ONE');
    vi.advanceTimersByTime(5_000);
    await expect.poll(failure).toBeNull();
    expect(events.filter((event) => event.startsWith('down') || event.startsWith('up'))).toEqual([
      ...['up', 'down: read-only, READONLY', 'up'],
    ]);
  });

  it('fails while Redis is full, although it can be read, and a probe finds out when it works again', async () => {
    const redis = await tRedis();
    const client = tRawClient(redis);
    const { store, failure, events } = tOpened(redis.url);
    expect(failure()).toBe('unreachable');
    await store.set('key', 'value', hour);
    expect([failure(), ...events]).toEqual([null, 'up']);

    await client.config('SET', 'maxmemory', '1');
    await expect(store.add('key', 1, hour)).rejects.toMatchObject({ reason: 'OOM' });
    await expect(store.replace('key', 'value', 'second', hour)).rejects.toThrow('OOM');
    expect(await store.get('key')).toBe('value');
    // Nothing is written.
    expect(await store.replace('key', 'first', 'second', hour)).toBe(false);
    expect(await store.replace('key', 'value', null, hour)).toBe(true);
    await store.delete('key');
    expect(await store.get('key')).toBeNull();
    expect([failure(), ...events]).toEqual(['full', 'up', 'full', 'down: full, OOM', 'full']);

    await client.config('SET', 'maxmemory', '0');
    expect(failure()).toBe('full');
    vi.advanceTimersByTime(5_000);
    await expect.poll(failure).toBeNull();
    expect(events.slice(-2)).toEqual(['up', 'recovered']);
  });

  it('fails while its user may not write', async () => {
    const redis = await tRedis();
    // Otherwise the check of the secret would be the first write, and fail, too.
    await tOpened(redis.url).checkSecret();
    await tRawClient(redis).call('ACL', 'SETUSER', 'reader', 'on', '>password', '~*', '+@all', '-@write', '-eval');
    const { store, failure, events } = tOpened(redis.url.replace('redis://', 'redis://reader:password@'));
    await expect(store.set('key', 'value', hour)).rejects.toThrow('NOPERM');
    expect([failure(), ...events]).toEqual(['credentials', 'up', 'credentials', 'down: credentials, NOPERM']);
  });

  it('prevents the start if Redis rejects the password, or requires one', async () => {
    const redis = await tRedis({ password: 'right' });
    for (const url of [redis.url.replace(':right@', ':wrong@'), redis.url.replace(':right@', '')]) {
      const { checkSecret } = tOpened(url);
      await expect(checkSecret()).rejects.toThrow(/REDIS_URL: Redis rejects the user or the password/);
    }
  });

  it('fails because of the credentials if Redis returns with another password', async () => {
    const redis = await tRedis({ password: 'right' });
    const { store, failure, events } = tOpened(redis.url);
    await store.set('key', 'value', hour);
    await redis.restart({ password: 'other' });
    await expect.poll(failure).toBe('credentials');
    await redis.restart();
    await expect.poll(failure).toBeNull();
    const downs = events.filter((event) => event.startsWith('down'));
    expect(downs).toEqual([expect.stringMatching(/^down: unreachable/), 'down: credentials, WRONGPASS']);
  });

  it('fails while Redis is stopped, and works as soon as it is connected again', async () => {
    const redis = await tRedis();
    const { store, failure, events } = tOpened(redis.url);
    await store.set('key', 'value', hour);
    await redis.stop();
    await expect.poll(failure).toBe('unreachable');
    await expect(store.set('key', 'value', hour)).rejects.toThrow('not connected');
    await redis.restart();
    await expect.poll(failure).toBeNull();
    expect(events.filter((event) => event.startsWith('down') || event === 'recovered')).toEqual([
      expect.stringMatching(/^down: unreachable/),
      'recovered',
    ]);
  });
});

it.skipIf(whyNoMount)(`the embedded store fails while its disk is full${whyNoMount}`, async () => {
  const folder = tDisk(300);
  const { store, failure, events } = tOpened(null, folder);
  expect(failure()).toBeNull();
  await store.set('key', 'value', hour);
  const large = 'x'.repeat(200_000);
  await expect(store.set('large', large, hour)).rejects.toThrow('the disk is full');
  expect([failure(), ...events]).toEqual(['full', 'full', 'down: full, the disk is full']);
  expect(await store.get('key')).toBe('value');
  rmSync(join(folder, 'other'));
  vi.advanceTimersByTime(5_000);
  await expect.poll(failure).toBeNull();
  expect(events.slice(-2)).toEqual(['up', 'recovered']);
});

it.each<[string, StoreFailure]>([
  ['MISCONF', 'full'],
  ['ENOSPC', 'full'],
  ['MDB_MAP_FULL: no space', 'full'],
  ['timed out', 'timeout'],
  ['WRONGPASS', 'credentials'],
  ['NOAUTH', 'credentials'],
  ['written with another STORE_SECRET: all gateways need the same', 'wrong-secret'],
  ['a record is damaged or of a later version', 'corrupt'],
  ['MDB_CORRUPTED: Located page was wrong type', 'corrupt'],
  ['ECONNREFUSED', 'unreachable'],
  ['connection lost', 'unreachable'],
  ['READONLY', 'read-only'],
  ['WRONGTYPE', 'other'],
])('the reason %j is the failure %s', (reason, failure) => {
  expect(new StoreError(reason).failure).toBe(failure);
});
