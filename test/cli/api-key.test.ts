import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { apiKeyDocument } from '../../src/gateway/config/callers.ts';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { runCommand } from '../support/command.ts';

it('prints a new key and its entries in GATEWAY_API_KEYS and in the file', async () => {
  const { code, stdout } = await runCommand(['api-key', 'shop', 'bank-data+essays']);
  expect(code).toBe(0);
  const [, key = '', entry = '', inFile = ''] =
    /^key, shown only now: (lq_[\w-]{43})\nentry in GATEWAY_API_KEYS: (.*)\nentry in .*_FILE, in the list "keys": (.*)\n$/.exec(
      stdout,
    ) ?? [];
  const sha256 = createHash('sha256').update(key).digest('hex');
  const expected = [{ name: 'shop', sha256, scopes: ['bank-data', 'essays'], limits: {} }];
  expect(readConfig({ GATEWAY_API_KEYS: entry }).access.apiKeys).toEqual(expected);
  expect(apiKeyDocument.parse({ keys: [JSON.parse(inFile)] }).keys).toEqual(expected);
});

it.each([[[]], [['my shop']], [['shop', 'everything']], [['a:b']]])('refuses the arguments %j', async (args) => {
  const { code, stdout, stderr } = await runCommand(['api-key', ...args]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .+\n/);
});
