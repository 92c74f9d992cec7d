import { expect, it, onTestFinished } from 'vitest';
import { createAccess } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createLogEvents } from '../../src/telemetry/log-events.ts';
import { sha256 } from '../support/auth/identify.ts';
import { createMemoryStore } from '../support/stores/memory-store.ts';

const key = 'lq_seeded-key-of-the-shop';

function tAccess(env: Record<string, string>) {
  const { access, store: storeConfig } = readConfig(env);
  const events = createLogEvents(createLog({ level: 'silent', redact: (text) => text }));
  const created = createAccess({ access, storeConfig, store: createMemoryStore(), events });
  onTestFinished(created.close);
  return created;
}

it('lets callers without a limit pass at once', () => {
  const { checkHeaders } = tAccess({ GATEWAY_API_KEYS: `shop:${sha256(key)}:essays` });
  expect(checkHeaders(['x-api-key', key])).toMatchObject({ id: 'api-key:shop' });
  const refusal = { status: 401, code: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } };
  expect(checkHeaders([])).toMatchObject(refusal);
});

it('refuses further requests of a minute, with the time to wait', async () => {
  const env = { GATEWAY_API_KEYS: `shop:${sha256(key)}:essays`, CALLER_REQUESTS_PER_MINUTE: '2' };
  const { checkHeaders } = tAccess(env);
  const results = await Promise.all([1, 2, 3].map(() => checkHeaders(['x-api-key', key])));
  expect(results.map(({ kind }) => kind)).toEqual(['api-key', 'api-key', 'refused']);
  expect(results[2]).toEqual({
    kind: 'refused',
    status: 429,
    code: 'RATE_LIMITED',
    message: 'This caller has sent its requests of this minute; retry in 60 s.',
    headers: { 'retry-after': '60' },
  });
});

it('leaves unsigned requests to the check of their body', async () => {
  const env = { ROUTER_SECRET: 's'.repeat(32), ANONYMOUS_SCOPES: 'essays', CALLER_REQUESTS_PER_MINUTE: '1' };
  const { checkHeaders, checkParams } = tAccess(env);
  expect(checkHeaders([])).toEqual({ kind: 'unsigned' });
  expect(await checkParams({ query: '{ find }' })).toMatchObject({ kind: 'anonymous' });
  expect(await checkParams({ query: '{ find }' })).toMatchObject({ status: 429 });
  const signed = { query: '{ find }', extensions: { 'hmac-signature': 'x' } };
  expect(await checkParams(signed)).toMatchObject({ status: 401 });
});
