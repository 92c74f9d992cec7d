import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createLog } from '../../../../src/base/log.ts';
import { createSealing, withSealing } from '../../../../src/gateway/stores/sealed-store.ts';
import { createLogEvents } from '../../../../src/gateway/telemetry/log-events.ts';
import { readAll } from '../../../support/command.ts';
import { listOrders, storeOrders, tOrders } from '../../../support/gateway/essays/orders.ts';
import { tRawClient, tRedis, tRedisStore, whyNoRedis } from '../../../support/redis.ts';

it.skipIf(whyNoRedis)(`one damaged entry in Redis hides no other order${whyNoRedis}`, async () => {
  const redis = await tRedis();
  const store = withSealing(
    tRedisStore(redis.url).store,
    createSealing(() => 'a-secret-of-the-test-with-32-characters').loadKeys,
  );
  await storeOrders(store, 'cancelled', 3);
  const raw = tRawClient(redis);
  const keys = await raw.keys('ledgerquill:value:*');
  // The entry and the record of each order.
  expect(keys).toHaveLength(6);
  const { orders, fired } = tOrders({ store });
  for (const key of keys) {
    const value = await raw.getBuffer(key);
    await raw.set(key, 'garbage-entry', 'KEEPTTL');
    expect((await listOrders(orders, {})).entries, key).toHaveLength(2);
    expect(fired.splice(0), key).toContain('skipped');
    await raw.set(key, value ?? '', 'KEEPTTL');
  }
  expect((await listOrders(orders, {})).entries).toHaveLength(3);
  await orders.stop();
});

it('is one line in the log, without content', () => {
  const destination = new PassThrough();
  const log = createLog({ level: 'trace', redact: (text) => text, destination });
  const { essayOrderUnreadable } = createLogEvents(log);
  for (let count = 0; count < 3; count += 1) essayOrderUnreadable();
  const lines = readAll(destination).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 50, time: expect.any(Number), msg: expect.stringMatching(/^a stored order was left out: /) },
  ]);
});
