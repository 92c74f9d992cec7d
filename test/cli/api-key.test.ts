import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { runCommand } from '../support/command.ts';

it('prints a new key and its entry in GATEWAY_API_KEYS', async () => {
  const { code, stdout } = await runCommand(['api-key', 'shop', 'bank-data']);
  expect(code).toBe(0);
  const [, key = '', entry = ''] =
    /^key, shown only now: (lq_[\w-]{43})\nentry in GATEWAY_API_KEYS: (.*)\n$/.exec(stdout) ?? [];
  const sha256 = createHash('sha256').update(key).digest('hex');
  expect(readConfig({ GATEWAY_API_KEYS: entry }).access.apiKeys).toEqual([
    { name: 'shop', sha256, scopes: ['bank-data'], limits: {} },
  ]);
});

it.each([[[]], [['my shop']], [['shop', 'everything']], [['a:b']]])('refuses the arguments %j', async (args) => {
  const { code, stdout, stderr } = await runCommand(['api-key', ...args]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .+\n/);
});
