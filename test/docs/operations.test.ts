import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/gateway/config/read-config.ts';
import { knownVariables } from '../../src/gateway/config/variables.ts';
import { fencedBlocks, whyNoCurl } from '../support/docs/blocks.ts';
import { keyOf, tCallers } from '../support/gateway/callers.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tRawClient, tRedisProcess, whyNoRedis } from '../support/redis.ts';

/* docs/operations.md: its configuration, its command, its code and its table; the function of docs/clients.md for tokens. */

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const blocks = fencedBlocks(page);
const { text: fetchWithToken = '' } =
  fencedBlocks(readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')).find(
    ({ file }) => file === 'fetch-with-token.js',
  ) ?? {};
const find = (start: string) => blocks.find(({ text }) => text.startsWith(start))?.text ?? '';

it('names only variables that exist', () => {
  const [guide = ''] = page.split('\n## Failure codes\n');
  const names = [...guide.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !knownVariables.includes(name))).toEqual([]);
});

it('has a configuration that a gateway behind a proxy accepts', () => {
  const lines = `${find('BANK_DATA_URL=')}${find('REDIS_URL_FILE=')}`.trimEnd().split('\n');
  const entries = lines.map((line) => /^([A-Z_]+)=(\S+)$/.exec(line)?.slice(1) ?? []);
  expect(entries.filter(([name = '']) => !knownVariables.includes(name))).toEqual([]);
  // The files with keys do not exist here.
  const values = entries.map(([name = '', value]) => [name.replace(/(?<!KEYS)_FILE$/, ''), value]);
  const secrets = { REDIS_URL: 'redis://10.0.0.10', STORE_SECRET: 's'.repeat(32), OPERATOR_KEY: 'o'.repeat(32) };
  const env = { ...Object.fromEntries(values), ...secrets, HOST: '0.0.0.0' };
  const { access, bankData, corsOrigins, shutdownDelayMs } = readConfig(env);
  expect(shutdownDelayMs).toBe(5_000);
  expect(bankData.monthlyAllowance).toBe(50_000);
  expect(access).toMatchObject({
    anonymousScopes: null,
    jwt: { audience: 'ledgerquill' },
  });
  expect(corsOrigins).toEqual(['https://app.example.com']);
});

it.skipIf(whyNoCurl)(`has a first query that makes one paid call${whyNoCurl}`, async () => {
  const env = { BANK_DATA_MONTHLY_ALLOWANCE: '50000' };
  const { origin, upstream } = await tCallers({ callers: { shop: 'bank-data' }, env });
  const command = find('curl ').replace('localhost:4000', origin);
  const { stdout } = await promisify(execFile)('sh', ['-euc', command], { env: { API_KEY: keyOf('shop') } });
  const allowances = [{ service: 'BANK_DATA', remaining: 49_999 }];
  expect(JSON.parse(stdout)).toEqual({ data: { ibanValidation: { valid: true }, allowances } });
  expect(upstream.calls).toHaveLength(1);
});

describe('its function fetchWithToken renews a token that has expired', () => {
  const query = gql`{ ibanValidation(iban: "DE89370400440532013000") { valid } }`;
  const answer = { ibanValidation: { valid: true } };
  const urqlOptions = { exchanges: [fetchExchange], preferGetMethod: false };

  it.each(['Apollo Client', 'urql', 'graphql-request'] as const)('for %s', async (client) => {
    const { url, upstream } = await tCallers({ callers: { anna: 'bank-data' } });
    let token = 'expired';
    const renewToken = async () => (token = keyOf('anna'));
    const makeFetch = new Function('getToken', 'renewToken', `${fetchWithToken}return fetchWithToken`);
    const fetch: typeof globalThis.fetch = makeFetch(async () => token, renewToken);
    const send = {
      'Apollo Client': async () => {
        const apollo = new ApolloClient({ link: new HttpLink({ uri: url, fetch }), cache: new InMemoryCache() });
        return (await apollo.query({ query })).data;
      },
      urql: async () => (await new Client({ ...urqlOptions, url, fetch }).query(query, {})).data,
      'graphql-request': () => new GraphQLClient(url, { fetch }).request(query),
    };
    expect(await send[client]()).toMatchObject(answer);
    expect(upstream.calls).toHaveLength(1);
  });
});

it('has a table that its formula computes', () => {
  const [section = ''] = page.slice(page.indexOf('Paid calls a month =')).split('\n## ');
  const [head = [], , ...rows] = [...section.matchAll(/^\|(.+)\|$/gm)].map(([, row = '']) =>
    row.split('|').map((cell) => Number(cell.replaceAll(/[^\d]/g, ''))),
  );
  const rates = head.slice(2);
  expect(rates).toEqual([0, 50, 80, 95]);
  expect(rows.length).toBeGreaterThan(2);
  for (const [users = 0, ibans = 0, ...calls] of rows)
    expect(calls).toEqual(rates.map((rate) => (users * ibans * (100 - rate)) / 100));
});

it.skipIf(whyNoRedis)(
  `has settings with which Redis keeps what transactions and scripts wrote${whyNoRedis}`,
  async () => {
    const file = join(tFolder(), 'redis.conf');
    writeFileSync(file, find('appendonly'));
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
