import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSecretProblem } from '../../../src/cli/store.ts';
import { redisUrl } from '../../../src/gateway/config/redis-url.ts';
import { createSealing, withSealing, withSecretCheck } from '../../../src/gateway/stores/sealed-store.ts';
import { getOrCreate } from '../../../src/gateway/stores/store.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { bankDataKey, tGateway } from '../../support/gateway.ts';
import { orderMutation, orderVariables, readEssay } from '../../support/process.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* A store whose secret is replaced: it is read with both secrets, and written with the present one. */

const [first, second, third] = ['first-secret-of-the-store', 'second-secret-of-the-store', 'third-secret-of-the-store'];
const hour = { expiresInMs: 3_600_000 };

describe('a store with a present and an old secret', () => {
  function tOpened(store = createMemoryStore(), present = first, old: string | null = null) {
    const sealing = createSealing(() => present, old);
    const opened = withSecretCheck(store, sealing, withSealing(store, sealing.loadKeys));
    return { ...opened, sealing };
  }

  it('reads what both have written, and writes with the present one', async () => {
    const store = createMemoryStore();
    await tOpened(store).set('essay', 'of the first', hour);
    const both = tOpened(store, second, first);
    expect(await both.get('essay')).toBe('of the first');
    await both.set('later', 'of the second', hour);
    const old = tOpened(store, first, second);
    expect(await old.get('later')).toBe('of the second');
    await both.checkSecret();
    const onlySecond = tOpened(store, second);
    expect(await onlySecond.get('later')).toBe('of the second');
    await expect(onlySecond.get('essay')).rejects.toThrow('sealed with another secret');
    await expect(tOpened(store, first).get('later')).rejects.toMatchObject({ failure: 'wrong-secret' });
  });

  it('shares counters and conditions between gateways of which each has another present secret', async () => {
    const store = createMemoryStore();
    const [before, after] = [tOpened(store, first, second), tOpened(store, second, first)];
    await before.add('calls', 40, hour);
    expect(await after.add('calls', 2, hour)).toMatchObject({ sum: 42, restored: 0 });
    expect(await before.add('calls', 0, hour)).toMatchObject({ sum: 42 });
    await before.set('record', 'ordered', hour);
    expect(await getOrCreate(after, 'record', 'again', hour)).toBe('ordered');
    expect(await after.replace('record', 'ordered', 'sent', hour)).toBe(true);
    expect(await before.replace('record', 'ordered', 'sent', hour)).toBe(false);
    await before.delete('record');
    expect(await after.get('record')).toBeNull();
  });

  it('keeps its names when the secret is replaced again, and when the store has lost its data', async () => {
    const store = createMemoryStore();
    await tOpened(store).add('calls', 1, hour);
    await tOpened(store, second, first).checkSecret();
    const last = tOpened(store, third, second);
    await last.checkSecret();
    expect(await tOpened(store, third).add('calls', 1, hour)).toMatchObject({ sum: 2 });
    store.clear();
    await last.checkSecret();
    await last.add('calls', 5, hour);
    expect(await tOpened(store, third).add('calls', 0, hour)).toMatchObject({ sum: 5 });
  });

  it('opens what it has written before a secret was replaced while it runs', async () => {
    const store = createMemoryStore();
    const { sealing, ...opened } = tOpened(store);
    await opened.set('essay', 'text', hour);
    sealing.use(second, null);
    await opened.checkSecret();
    await opened.set('essay 2', 'text 2', hour);
    expect([await opened.get('essay'), await opened.get('essay 2')]).toEqual(['text', 'text 2']);
    expect(await tOpened(store, second).get('essay 2')).toBe('text 2');
  });
});

it('check-config and `store check` accept either secret, and name STORE_SECRET_OLD otherwise', async () => {
  const folder = tFolder();
  const gateway = await tStarted({ DATA_DIR: folder, STORE_SECRET: first });
  await gateway.order('Pens', 'form-1');
  await gateway.close();
  const find = (secret: string, oldSecret: string | null) =>
    findSecretProblem({ redis: null, secret, oldSecret }, folder);
  expect(await find(first, null)).toBeNull();
  expect(await find(second, first)).toBeNull();
  expect(await find(second, third)).toContain('set it as STORE_SECRET_OLD');
});

async function tStarted(env: Record<string, string>, upstream?: Awaited<ReturnType<typeof tPaid>>) {
  const paid = upstream ?? (await tPaid());
  const gateway = tGateway({ bankDataUrl: paid.url, essaysUrl: paid.url, env: { METRICS_PORT: '0', ...env } });
  await gateway.listen();
  return {
    ...gateway,
    paid,
    async order(topic: string, key: string) {
      const { data } = await gateway.ask(orderMutation, orderVariables(topic, key));
      return readEssay(data as never);
    },
    async lookUp(iban: string) {
      const { data } = await gateway.ask(`{ ibanValidation(iban: "${iban}") { valid } }`);
      return data;
    },
  };
}

const tPaid = () =>
  tUpstream(replyJson(200, { valid: true, essay: 'Pens hold ink, and they hold it well. '.repeat(20) }));
const iban = 'DE89370400440532013000';
const valid = { ibanValidation: { valid: true } };

describe.skipIf(whyNoRedis)(`gateways that share a Redis${whyNoRedis}`, { timeout: 100_000 }, () => {
  it('lose no essay and pay for no look-up twice while each is restarted with the next secret', async () => {
    const redis = await tRedis();
    const paid = await tPaid();
    const start = (STORE_SECRET: string, STORE_SECRET_OLD = '') =>
      tStarted({ REDIS_URL: redis.url, STORE_SECRET, STORE_SECRET_OLD }, paid);
    const steps: [string, string?][] = [[first], [first, second], [second, first]];
    let [one, other] = [await start(first), await start(first)];
    const essay = await one.order('Pens', 'form-1');
    expect(await one.lookUp(iban)).toEqual(valid);
    expect(essay).not.toBeNull();
    for (const [present, old] of steps.slice(1)) {
      for (const place of [0, 1]) {
        await (place === 0 ? one : other).close();
        const next = await start(present, old);
        if (place === 0) one = next;
        else other = next;
        for (const gateway of [one, other]) {
          expect(await gateway.order('Pens', 'form-1')).toEqual(essay);
          expect(await gateway.lookUp(iban)).toEqual(valid);
        }
      }
    }
    expect(paid.calls).toHaveLength(2);
    expect((await findSecretProblem({ redis: redisUrl.parse(redis.url), secret: second }, '/dev/null')) ?? '').toBe('');
  });

  it('read the files with both secrets again, and keep the last ones while a file is invalid', async () => {
    const redis = await tRedis();
    const folder = tFolder();
    const files = { STORE_SECRET_FILE: join(folder, 'present'), STORE_SECRET_OLD_FILE: join(folder, 'old') };
    writeFileSync(files.STORE_SECRET_FILE, first);
    writeFileSync(files.STORE_SECRET_OLD_FILE, first);
    const gateway = await tStarted({ REDIS_URL: redis.url, ...files });
    const essay = await gateway.order('Pens', 'form-1');
    const validity = async (name: string) =>
      (await scrape(gateway.metricsUrl() ?? '')).value('ledgerquill_configured_file_valid', { file: name });

    writeFileSync(files.STORE_SECRET_FILE, 'short');
    gateway.reloadKeys();
    expect(await validity('STORE_SECRET_FILE')).toBe(0);
    expect(await gateway.order('Pens', 'form-1')).toEqual(essay);
    writeFileSync(files.STORE_SECRET_FILE, second);
    gateway.reloadKeys();
    expect(await validity('STORE_SECRET_FILE')).toBe(1);
    await expect
      .poll(() => findSecretProblem({ redis: redisUrl.parse(redis.url), secret: second }, '/dev/null'), {
        timeout: 10_000,
      })
      .toBeNull();
    expect(await gateway.order('Pens', 'form-1')).toEqual(essay);
    expect(gateway.paid.calls).toHaveLength(1);
    expect(gateway.log()).toContain('_FILE","msg":"a configured file was read again"');
    for (const secret of [first, second, bankDataKey]) expect(gateway.log()).not.toContain(secret);
  });
});
