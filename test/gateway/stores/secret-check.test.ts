import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { beginNewStore, findSecretProblem, verifyStore } from '../../../src/cli/store.ts';
import { redisUrl } from '../../../src/gateway/config/redis-url.ts';
import { createLmdbStore } from '../../../src/gateway/stores/lmdb-store.ts';
import { openStore } from '../../../src/gateway/stores/open-store.ts';
import { createSealing, withSealing, withSecretCheck } from '../../../src/gateway/stores/sealed-store.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';
import { callsOf } from '../../support/gateway/stores/store-contract.ts';
import { type TRedis, tRawClient, tRedis, whyNoRedis } from '../../support/redis.ts';

/* A store that was written with another secret: what was paid for would not be found in it. */

const hour = { expiresInMs: 3_600_000 };
const wrongSecret = { name: 'StoreError', failure: 'wrong-secret' };
const redisCheckKey = 'ledgerquill:value:secret-check';

afterEach(() => {
  vi.useRealTimers();
});

interface TOpenedOptions {
  redis?: Pick<TRedis, 'url'>;
  secret?: string | null;
  folder?: string;
}

const configOf = ({ redis, secret = null }: TOpenedOptions) => ({
  redis: redis ? redisUrl.parse(redis.url) : null,
  secret,
  replicas: 1,
});

/** A store of the gateway. The timers of its checks run when the test advances the time. */
function tOpened({ folder = '/dev/null', ...options }: TOpenedOptions) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const events: string[] = [];
  const opened = openStore(configOf(options), folder, {
    storeDown: (failure, reason) => events.push(`down: ${failure}, ${reason}`),
    storeUp: () => events.push('up'),
    storeFailed() {},
    storeRisksChanged() {},
  });
  onTestFinished(() => opened.store.close());
  return { ...opened, events };
}

describe('a store with a secret check', () => {
  const tChecked = (store = createMemoryStore(), secret = 'secret') =>
    withSecretCheck(
      store,
      createSealing(() => secret),
    );

  it('gets one check value of two processes, under a name that does not depend on their secret', async () => {
    const store = createMemoryStore();
    const set = vi.spyOn(store, 'replace');
    await Promise.all([tChecked(store).set('key', 'value', hour), tChecked(store).set('other', 'value', hour)]);
    expect(set.mock.calls.map(([key]) => key)).toEqual(['secret-check', 'secret-check']);
    const value = await store.get('secret-check');
    expect(Buffer.from(value ?? '', 'base64').toString('latin1')).not.toContain('ledgerquill');
    await tChecked(store).add('key', 1, hour);
    expect(set).toHaveBeenCalledTimes(2);
    expect(await tChecked(store).get('key')).toBe('value');
  });

  it('is only read by reads while it is empty', async () => {
    const store = createMemoryStore();
    const checked = tChecked(store);
    expect(await checked.get('key')).toBeNull();
    expect(await checked.add('key', 0, hour)).toMatchObject({ sum: 0 });
    expect(await store.get('secret-check')).toBeNull();
  });

  it('is neither read nor written with another secret, until its check value is replaced', async () => {
    const store = createMemoryStore();
    await tChecked(store).set('key', 'value', hour);
    const other = tChecked(store, 'another secret');
    for (const call of callsOf(other, 'key')) await expect(call()).rejects.toMatchObject(wrongSecret);
    await expect(other.add('key', 0, hour)).rejects.toMatchObject(wrongSecret);
    expect(await store.add('key', 0, hour)).toMatchObject({ sum: 0 });
    store.clear();
    await other.checkSecret();
    await expect(tChecked(store).get('key')).rejects.toMatchObject(wrongSecret);
    expect(await other.get('key')).toBeNull();
  });

  it('is not used with a check value that was changed', async () => {
    const store = createMemoryStore();
    for (const value of ['', 'AAAA', '€']) {
      await store.set('secret-check', value, hour);
      await expect(tChecked(store).get('key')).rejects.toMatchObject(wrongSecret);
    }
  });
});

describe('the start with an embedded store', () => {
  const lossMessage = 'loses the essays that were paid for';

  async function tWritten(options: TOpenedOptions = {}) {
    const folder = tFolder();
    const { store } = tOpened({ folder, ...options });
    await store.set('key', 'value', hour);
    await store.close();
    return folder;
  }

  it.each([null, 'a-secret-of-the-store'])('succeeds with the same secret: %s', async (secret) => {
    const folder = await tWritten({ secret });
    const { store, checkSecret } = tOpened({ folder, secret });
    await checkSecret();
    expect(await store.get('key')).toBe('value');
    expect(await findSecretProblem(configOf({ secret }), folder)).toBeNull();
  });

  it('creates nothing in an empty folder', async () => {
    const folder = tFolder();
    await tOpened({ folder }).checkSecret();
    expect(await findSecretProblem(configOf({}), folder)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails with another secret, and says what to do', async () => {
    const folder = await tWritten({ secret: 'a-secret-of-the-store' });
    const { checkSecret, store } = tOpened({ folder, secret: 'another-secret-of-the-store' });
    await expect(checkSecret()).rejects.toThrow(ConfigError);
    await expect(checkSecret()).rejects.toThrow(
      /STORE_SECRET: is not the secret .* restore that secret, .*STORE_SECRET_OLD; .*store new/,
    );
    await expect(checkSecret()).rejects.toThrow(lossMessage);
    await expect(store.get('key')).rejects.toMatchObject(wrongSecret);
    writeFileSync(join(folder, 'store-secret'), 'x'.repeat(43));
    await expect(tOpened({ folder }).checkSecret()).rejects.toThrow(`DATA_DIR: ${join(folder, 'store-secret')} is not`);
  });

  it('fails if its generated secret is missing, and creates none', async () => {
    const folder = await tWritten();
    rmSync(join(folder, 'store-secret'));
    expect(() => tOpened({ folder })).toThrow(ConfigError);
    expect(() => tOpened({ folder })).toThrow('store-secret is missing');
    expect(await findSecretProblem(configOf({}), folder)).toContain(lossMessage);
    expect(existsSync(join(folder, 'store-secret'))).toBe(false);
  });

  it('writes the check value into a store that has none, whose data remain readable', async () => {
    const folder = tFolder();
    const secret = 'a-secret-of-the-store';
    const before = createLmdbStore({ folder });
    await withSealing(before, createSealing(() => secret).loadKeys).set('key', 'value', hour);
    await before.close();
    // Stores that are older than the check value have no marker.
    rmSync(join(folder, 'store-1.lmdb-created'));
    const { store, checkSecret } = tOpened({ folder, secret });
    await checkSecret();
    expect(await store.get('key')).toBe('value');
    await store.close();
    await expect(tOpened({ folder, secret: `${secret}-2` }).checkSecret()).rejects.toThrow('STORE_SECRET: is not');
  });

  it('succeeds after `store new`, which moves the old file aside and only then changes anything', async () => {
    const folder = await tWritten();
    expect(await beginNewStore({ store: configOf({}), dataDir: folder })).toContain('nothing was changed');
    rmSync(join(folder, 'store-secret'));
    const done = await beginNewStore({ store: configOf({}), dataDir: folder });
    expect(done).toMatch(
      /The old store is now \S+store-1\.lmdb\.until-\S+Z\. .*what is ordered again is paid for again/,
    );
    const { store, checkSecret } = tOpened({ folder });
    await checkSecret();
    expect(await store.get('key')).toBeNull();
    await store.set('key', 'new', hour);
    expect(readdirSync(folder).sort()).toEqual([
      'store-1.lmdb',
      'store-1.lmdb-created',
      'store-1.lmdb-lock',
      expect.stringMatching(/^store-1\.lmdb\.until-.*Z$/),
      'store-secret',
    ]);
  });

  it.each<[string, (path: string) => void, string]>([
    ['is deleted', rmSync, 'is missing, but was created before'],
    ['is emptied, as by a shell,', (path) => writeFileSync(path, ''), 'is empty, but was created before'],
    ['is damaged', (path) => writeFileSync(path, Buffer.alloc(8_192, 1)), 'is damaged'],
  ])('does not begin again by itself if its file %s, however lately', async (_, damage, message) => {
    const folder = await tWritten();
    damage(join(folder, 'store-1.lmdb'));
    expect(() => tOpened({ folder })).toThrow(message);
    // With a secret of the configuration, too.
    expect(() => tOpened({ folder, secret: 'a-secret-of-the-store' })).toThrow(message);
    expect(await beginNewStore({ store: configOf({}), dataDir: folder })).toContain('The old store is now');
    const { store, checkSecret } = tOpened({ folder });
    await checkSecret();
    expect(await store.get('key')).toBeNull();
    // As at each start: what was moved aside, and may be damaged, is not read again.
    expect(await verifyStore(folder)).toEqual([]);
  });

  it('is not replaced while another process uses it', async () => {
    const folder = await tWritten();
    const { store } = tOpened({ folder });
    rmSync(join(folder, 'store-secret'));
    await expect(beginNewStore({ store: configOf({}), dataDir: folder })).rejects.toThrow(
      'stop all gateways before `store new`',
    );
    await store.close();
    expect(await beginNewStore({ store: configOf({}), dataDir: folder })).toContain('The old store is now');
  });
});

describe.skipIf(whyNoRedis)(`a Redis${whyNoRedis}`, () => {
  const [ours, theirs] = ['a-secret-of-the-store', 'another-secret-of-the-store'];

  it('with the same secret can be used, and with another one prevents the start', async () => {
    const redis = await tRedis();
    const first = tOpened({ redis, secret: ours });
    await first.checkSecret();
    await first.store.set('key', 'value', hour);
    const same = tOpened({ redis, secret: ours });
    await same.checkSecret();
    expect(await same.store.get('key')).toBe('value');
    const other = tOpened({ redis, secret: theirs });
    await expect(other.checkSecret()).rejects.toThrow(/STORE_SECRET: is not the secret .*Redis.*store new/);
    expect(await tRawClient(redis).pttl(redisCheckKey)).toBeGreaterThan(90 * 365 * 86_400_000);
  });

  it('that is down at the start, and returns with data of another secret, is a store that fails', async () => {
    const redis = await tRedis({ isDurable: true });
    const first = tOpened({ redis, secret: theirs });
    await first.checkSecret();
    await first.store.close();
    await redis.stop();
    const { store, checkSecret, failure, events } = tOpened({ redis, secret: ours });
    await checkSecret();
    expect(failure()).toBe('unreachable');
    await redis.restart();
    await expect.poll(failure).toBe('wrong-secret');
    for (const call of callsOf(store, 'key')) await expect(call()).rejects.toMatchObject(wrongSecret);
    expect(events.filter((event) => event === 'up')).toEqual([]);
    expect(await tRawClient(redis).keys('*')).toEqual([redisCheckKey]);

    // Its data are replaced by those of this secret.
    await beginNewStore({ store: configOf({ redis, secret: ours }), dataDir: '/dev/null' });
    vi.advanceTimersByTime(5_000);
    await expect.poll(failure).toBeNull();
    await store.set('key', 'value', hour);
  });

  it('of another secret is reported in the log and by the failure', async () => {
    const redis = await tRedis();
    await tOpened({ redis, secret: theirs }).checkSecret();
    const { failure, events } = tOpened({ redis, secret: ours });
    await expect.poll(failure).toBe('wrong-secret');
    expect(events).toEqual([expect.stringMatching(/^down: wrong-secret, written with another STORE_SECRET/)]);
  });

  it('that has lost its data gets its check value again within a second', async () => {
    const redis = await tRedis();
    const client = tRawClient(redis);
    await tOpened({ redis, secret: ours }).checkSecret();
    await client.flushall();
    vi.advanceTimersByTime(1_000);
    await expect.poll(() => client.exists(redisCheckKey)).toBe(1);
    await expect(tOpened({ redis, secret: theirs }).checkSecret()).rejects.toThrow('STORE_SECRET: is not');
  });

  it('gets only another check value by `store new`, and only if the secret does not fit', async () => {
    const redis = await tRedis();
    const client = tRawClient(redis);
    const config = configOf({ redis, secret: ours });
    const { store, checkSecret } = tOpened({ redis, secret: theirs });
    await checkSecret();
    await store.set('key', 'value', hour);
    expect(await beginNewStore({ store: configOf({ redis, secret: theirs }), dataDir: '/dev/null' })).toContain(
      'nothing was changed',
    );
    expect(await findSecretProblem(config, '/dev/null')).toContain('STORE_SECRET: is not');
    const keys = (await client.keys('*')).sort();
    expect(await beginNewStore({ store: config, dataDir: '/dev/null' })).toContain(
      'what is ordered again is paid for again',
    );
    expect((await client.keys('*')).sort()).toEqual(keys);
    expect(await findSecretProblem(config, '/dev/null')).toBeNull();
    await tOpened({ redis, secret: ours }).checkSecret();
    await redis.stop();
    await expect(beginNewStore({ store: config, dataDir: '/dev/null' })).rejects.toThrow(
      'REDIS_URL: `store new` must reach Redis',
    );
  });
});
