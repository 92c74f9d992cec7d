import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConfigHash } from '../../../src/gateway/config/config-hash.ts';
import { readConfig } from '../../../src/gateway/config/read-config.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { scrape } from '../../support/gateway/telemetry/scrape.ts';

const env = { REDIS_URL: 'redis://127.0.0.1:9', STORE_SECRET: 'seeded-secret-of-the-store', REPLICAS: '2' };
const lists = {
  storeSecret: env.STORE_SECRET,
  callers: [{ name: 'api-key:shop' }, { name: 'api-key:app' }],
  bankLists: [{ country: 'DE' }],
};

const hashOf = (more: Record<string, string> = {}, readAgain = lists) =>
  createConfigHash(readConfig({ ...env, ...more }), () => readAgain)();

describe('the hash of a configuration', () => {
  it('is the same for replicas that may have other ports, paths and orders of their keys', async () => {
    const hash = await hashOf();
    expect(hash).toMatch(/^[\da-f]{8}$/);
    expect(await hashOf({ PORT: '4001', DATA_DIR: '/elsewhere', LOG_LEVEL: 'debug' })).toBe(hash);
    expect(await hashOf({}, { ...lists, callers: lists.callers.toReversed() })).toBe(hash);
  });

  it('differs with the secret, the settings, the callers and the bank lists, and not with a key', async () => {
    const hashes = await Promise.all([
      hashOf(),
      hashOf({}, { ...lists, storeSecret: 'another-secret-of-the-store' }),
      hashOf({ REPLICAS: '3' }),
      hashOf({ BANK_DATA_MONTHLY_ALLOWANCE: '1000' }),
      hashOf({ ESSAY_MONTHLY_ALLOWANCE: '1000' }),
      hashOf({ CALLER_BANK_DATA_CALLS: '1000/day' }),
      hashOf({ BANK_DATA_PRICE: '0.01 EUR' }),
      hashOf({ BANK_DATA_URL: 'https://bank.example', BANK_DATA_API_KEY: 'seeded-key-1' }),
      hashOf({ BANK_DATA_FRESH_S: '60' }),
      hashOf({ MAX_QUERY_COST: '5000' }),
      hashOf({ ANONYMOUS_SCOPES: 'bank-data' }),
      hashOf({ MCP: 'off' }),
      hashOf({ JWT_JWKS_URL: 'https://issuer.example/keys', JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'lq' }),
      hashOf({}, { ...lists, callers: [] }),
      hashOf({}, { ...lists, bankLists: [] }),
    ]);
    expect(new Set(hashes).size).toBe(hashes.length);
    const withKey = (key: string) => hashOf({ ESSAY_URL: 'https://essays.example/a', ESSAY_API_KEY: key });
    expect(await withKey('seeded-key-1')).toBe(await withKey('seeded-key-2'));
  });
});

it('the metrics of a gateway have the hash of the API keys that it uses now', async () => {
  const dataDir = tFolder();
  const file = join(dataDir, 'keys.json');
  const writeKeys = (bankDataCalls: string) =>
    writeFileSync(
      file,
      JSON.stringify({
        keys: [{ name: 'shop', sha256: 'a'.repeat(64), scopes: ['bank-data'], limits: { bankDataCalls } }],
      }),
    );
  writeKeys('10/day');
  const gateway = await tListeningGateway({ METRICS_PORT: '0', DATA_DIR: dataDir, GATEWAY_API_KEYS_FILE: file });
  const readHash = async () => {
    const { text } = await scrape(gateway.metricsUrl());
    return /^ledgerquill_config_info\{hash="([\da-f]{8})"\} 1$/m.exec(text)?.[1];
  };
  const first = await readHash();
  expect(first).toBeDefined();
  expect(await readHash()).toBe(first);
  writeKeys('20/day');
  await expect.poll(readHash, { timeout: 100_000 }).not.toBe(first);
  const second = await readHash();
  writeKeys('10/day');
  await expect.poll(readHash, { timeout: 100_000 }).toBe(first);
  expect(second).not.toBe(first);
});
