import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fencedBlocks } from '../support/docs/fenced-blocks.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tRawClient } from '../support/gateway/stores/redis-client.ts';
import { tRedisProcess, whyNoRedis } from '../support/redis.ts';

/* docs/stores.md: its redis.conf. */

const page = readFileSync(new URL('../../docs/stores.md', import.meta.url), 'utf8');
const settings = fencedBlocks(page).find(({ text }) => text.startsWith('appendonly'))?.text ?? '';

it.skipIf(whyNoRedis)(
  `has settings with which Redis keeps what transactions and scripts wrote${whyNoRedis}`,
  async () => {
    const file = join(tFolder(), 'redis.conf');
    writeFileSync(file, settings);
    const redis = await tRedisProcess([file, '--appendfsync', 'always'], { isDurable: true });
    const client = tRawClient({ url: redis.url.replace('//', '//ledgerquill:PASSWORD@') });
    const keys = ['ledgerquill:value:a', 'ledgerquill:value:b'];
    await client
      .multi()
      .set(keys[0] ?? '', '1')
      .set(keys[1] ?? '', '2')
      .exec();
    await redis.restart();
    expect(await client.mget(keys)).toEqual(['1', '2']);
    // Without the user of the gateways, a client can do nothing.
    await expect(tRawClient(redis).get(keys[0] ?? '')).rejects.toThrow(/NOAUTH/);
  },
);
