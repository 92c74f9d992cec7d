import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Condition,
  conditions,
  essayText,
  isUnreachable,
  replies,
  replyHealthy,
  upstreamText,
} from '../support/failures/operations.ts';
import { as, ec, jwkOf, jwt, keyOf, sha256, tCallers, tToken, ways } from '../support/gateway/callers.ts';
import type { Received } from '../support/gateway/http/listening-gateway.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { bankDataKey, essaysKey } from '../support/gateway.ts';
import { tRawClient, tRedis, whyNoRedis } from '../support/redis.ts';
import { tUnusedUrl, tUpstream } from '../support/scripted-upstream.ts';

/*
 * Secrets, personal data and texts that are sent through every failure and every refusal: they are in no answer, no log
 * line, no metric, no file and no value in Redis. Names of callers are in no file either; those of API keys are in the log
 * and in metrics.
 */

const iban = 'DE89370400440532013000';
const description = 'canary-description';
const caller = 'canary-caller';
const subject = 'canary-subject@mail.example';
const lookUp = { query: `{ ibanValidation(iban: "${iban}") { valid problems } }` };
const entity = {
  query: 'query ($r: [_Any!]!) { _entities(representations: $r) { ... on IbanValidation { valid problems } } }',
  variables: { r: [{ __typename: 'IbanValidation', iban }] },
};
const order = (key: string) => ({
  query: `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) {
    __typename ... on UserError { message } ... on EssayServiceFailed { code } } }`,
  variables: { input: { description, wordCount: 100, idempotencyKey: key } },
});

async function tCanaries(condition: Condition = '200', env = {}) {
  const upstream = await tUpstream(replies[condition] ?? replyHealthy);
  if (isUnreachable(condition)) upstream.url = await tUnusedUrl();
  const token = await tToken({ sub: subject, scope: 'bank-data essays' });
  const dataDir = tFolder();
  const gateway = await tCallers({
    callers: { [caller]: 'bank-data+essays', limited: 'essays' },
    upstream,
    env: {
      ...jwt,
      JWT_PUBLIC_KEY: JSON.stringify(jwkOf(ec.publicKey, 'k1')),
      DATA_DIR: dataDir,
      METRICS_PORT: '0',
      CALLER_BANK_DATA_CALLS: '100/day',
      CALLER_ESSAY_CALLS: '100/day',
      BANK_DATA_TIMEOUT_MS: '50',
      ESSAY_TIMEOUT_MS: '50',
      ...env,
    },
  });
  const credentials = [as(caller), { 'x-api-key': keyOf(caller) }, { authorization: `Bearer ${token}` }];
  const callerSecrets = [keyOf(caller), token, sha256(keyOf(caller))];
  const canaries = [bankDataKey, essaysKey, ...callerSecrets, iban, description, essayText, upstreamText];
  const names = [caller, subject];
  const expectNoneIn = (text: string, forbidden: string[]) => {
    for (const canary of forbidden) {
      expect(text).not.toContain(canary);
      const base64 = Buffer.from(canary).toString('base64');
      expect(text).not.toContain(base64.replace(/.{2}=*$/, ''));
    }
  };
  return {
    ...gateway,
    credentials,
    expectNoneInAnswer: ({ headers, body }: Received) =>
      expectNoneIn(JSON.stringify(headers) + body, [...canaries, ...names]),
    expectNoneIn: (text: string) => expectNoneIn(text, [...canaries, ...names]),
    /** Also of what was written when the gateway closed. */
    async expectNothingLeaked(): Promise<number> {
      const metrics = await (await fetch(gateway.metricsUrl() ?? '')).text();
      expect(metrics).toContain('ledgerquill_graphql_requests_total{');
      expectNoneIn(metrics, [...canaries, subject]);
      await gateway.close();
      expectNoneIn(gateway.log(), [...canaries, subject]);
      const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      for (const { parentPath, name } of files) {
        expectNoneIn(readFileSync(join(parentPath, name), 'latin1'), [...canaries, ...names]);
        expectNoneIn(name, [...canaries, ...names]);
      }
      return files.length;
    },
  };
}

describe('a failure', () => {
  // The names of hosts are resolved by the system.
  it.each(conditions.filter((condition) => condition !== 'DNS failure'))(
    'leaks nothing under the condition %s',
    async (condition) => {
      const gateway = await tCanaries(condition);
      for (const [index, headers] of gateway.credentials.entries()) {
        for (const way of ways) {
          for (const question of [lookUp, entity])
            gateway.expectNoneInAnswer(await gateway.send(way, question, headers));
        }
        gateway.expectNoneInAnswer(await gateway.post(order(`k${index}`), headers));
      }
      expect(gateway.log()).toContain('"msg":');
      expect(await gateway.expectNothingLeaked()).toBeGreaterThan(0);
    },
  );
});

describe('a refusal', () => {
  it('leaks nothing, whatever its reason', async () => {
    const env = { CALLER_REQUESTS_PER_MINUTE: '12', CORS_ORIGINS: 'https://shop.example' };
    const gateway = await tCanaries('200', env);
    const { send, post, get, credentials, expectNoneInAnswer } = gateway;
    const statuses: number[] = [];
    const check = (received: Received) => {
      statuses.push(received.status);
      expectNoneInAnswer(received);
    };
    for (const headers of credentials) {
      const [[name, value] = ['', '']] = Object.entries(headers);
      for (const way of ways) {
        check(await send(way, lookUp, { [name]: `${value}x` }));
        check(await send(way, lookUp, { [name]: [value, value] }));
        check(await send(way, lookUp, { [name]: `Basic ${value}` }));
      }
      check(await get(lookUp, { ...headers, 'graphql-require-preflight': '' }));
      check(await get(lookUp, { ...headers, origin: 'https://other.example' }));
      check(await get({ ...lookUp, variables: `{"iban":"${iban}"` }, headers));
      check(await post(lookUp, { ...headers, accept: 'text/css' }));
      check(await post(lookUp, { ...headers, 'content-type': 'text/plain' }));
      check(await post(`{"query":"${iban} ${description}`, headers));
      check(await post({ ...order('k'), padding: 'x'.repeat(1_000_000) }, headers));
      const client = { 'apollographql-client-name': iban, 'apollographql-client-version': iban };
      check(
        await post({ query: `query ${iban} { ibanValidation(iban: "${iban}") { valid } }` }, { ...headers, ...client }),
      );
      check(await post({ query: '{ __schema { description } }', variables: { iban, description } }, headers));
    }
    const limited = as('limited');
    for (const way of ways) check(await send(way, lookUp, limited));
    for (let count = 0; count < 12; count += 1) check(await post(lookUp, limited));
    expect([...new Set(statuses)].sort()).toEqual([200, 400, 401, 403, 406, 413, 415, 429]);
    await gateway.expectNothingLeaked();
  });
});

describe.skipIf(whyNoRedis !== '')(`in Redis${whyNoRedis}`, () => {
  it('no value or key contains a secret, personal data, a text or the name of a caller', async () => {
    const redis = await tRedis();
    const env = { REDIS_URL: redis.url, STORE_SECRET: 'seeded-store-secret-of-32-characters' };
    const more = { CALLER_REQUESTS_PER_MINUTE: '100', BANK_DATA_TIMEOUT_MS: '10000', ESSAY_TIMEOUT_MS: '10000' };
    const gateway = await tCanaries('200', { ...env, ...more });
    for (const [index, headers] of gateway.credentials.entries()) {
      for (const way of ways) await gateway.send(way, lookUp, headers);
      const { json } = await gateway.post(order(`k${index}`), headers);
      expect(json().data).toEqual({ generateEssay: { __typename: 'Essay' } });
    }
    await gateway.expectNothingLeaked();
    const client = tRawClient(redis);
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThan(6);
    for (const key of keys) {
      gateway.expectNoneIn(key);
      const type = await client.type(key);
      const value =
        type === 'string' ? await client.getBuffer(key) : Buffer.from(JSON.stringify(await client.hgetall(key)));
      gateway.expectNoneIn(value?.toString('latin1') ?? '');
    }
  });
});
