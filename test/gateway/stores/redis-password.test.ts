import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';
import { tGateway } from '../../support/gateway.ts';
import { orderMutation, orderVariables } from '../../support/process.ts';
import { tRawClient, tRedisProcess, whyNoRedis } from '../../support/redis.ts';
import { replyJson, tUpstream } from '../../support/scripted-upstream.ts';

/* The password of Redis is replaced while a gateway runs, as docs/operations.md says. */

const [first, second] = ['seeded-password-1', 'seeded-password-2'];
const essay = 'Pens hold ink, and they hold it well. '.repeat(20);

it.skipIf(whyNoRedis)(`the next connection to Redis uses the password that its file has now${whyNoRedis}`, async () => {
  const rules = 'on ~ledgerquill:* +@all -@dangerous +info'.split(' ');
  const redis = await tRedisProcess(['--user', 'ledgerquill', ...rules, `>${first}`]);
  const admin = tRawClient(redis);
  const file = join(tFolder(), 'redis-url');
  const urlWith = (password: string) => redis.url.replace('//', `//ledgerquill:${password}@`);
  const writeUrl = (url: string) => {
    writeFileSync(file, `${url}\n`);
    gateway.reloadKeys();
  };
  writeFileSync(file, urlWith(first));
  const paid = await tUpstream(replyJson(200, { valid: true, essay }));
  const gateway = tGateway({
    bankDataUrl: paid.url,
    essaysUrl: paid.url,
    env: {
      REDIS_URL_FILE: file,
      STORE_SECRET: 'a-secret-that-all-share',
      METRICS_PORT: '0',
    },
  });
  await gateway.listen();
  const order = () => gateway.ask(orderMutation, orderVariables('Pens', 'form-1'));
  const metric = async (name: string, labels = {}) => (await scrape(gateway.metricsUrl())).value(name, labels);
  const ordered = await order();
  expect(ordered.data).toMatchObject({ generateEssay: { text: essay } });

  await admin.call('ACL', 'SETUSER', 'ledgerquill', `>${second}`);
  writeUrl(urlWith(second));
  await admin.call('ACL', 'SETUSER', 'ledgerquill', `<${first}`);
  expect(await order()).toEqual(ordered);
  await admin.call('CLIENT', 'KILL', 'USER', 'ledgerquill');
  await expect.poll(async () => (await order()).data, { timeout: 20_000 }).toEqual(ordered.data);
  expect(await metric('ledgerquill_store_up')).toBe(1);
  expect(gateway.log()).toContain('"variable":"REDIS_URL_FILE","msg":"a configured file was read again"');
  expect(gateway.log()).not.toContain('WRONGPASS');

  // Another server may have other data: that is another configuration.
  writeUrl(urlWith(second).replace('127.0.0.1', '127.0.0.2'));
  expect(await metric('ledgerquill_configured_file_valid', { file: 'REDIS_URL_FILE' })).toBe(0);
  expect(gateway.log()).toContain('REDIS_URL in the file has more than another password, which needs a restart');
  writeUrl(urlWith(second));
  expect(await metric('ledgerquill_configured_file_valid', { file: 'REDIS_URL_FILE' })).toBe(1);
  expect(paid.calls).toHaveLength(1);
  for (const password of [first, second]) expect(gateway.log()).not.toContain(password);
});
