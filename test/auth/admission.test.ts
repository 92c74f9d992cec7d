import { expect, it } from 'vitest';
import { createAdmission } from '../../src/auth/admission.ts';
import { createRateLimit } from '../../src/auth/rate-limit.ts';
import { sha256, tAuthentication } from '../support/auth/authentication.ts';

const key = 'lq_seeded-key-of-the-shop';

function tAdmission(env: Record<string, string>) {
  const events = { rateLimitNotShared() {} };
  return createAdmission(tAuthentication(env), createRateLimit({ shared: null, events }));
}

it('admits callers without a limit at once', () => {
  const { admit } = tAdmission({ GATEWAY_API_KEYS: `shop:${sha256(key)}:essays` });
  expect(admit(['x-api-key', key])).toMatchObject({ id: 'api-key:shop' });
  expect(admit([])).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } });
});

it('refuses further requests of a minute, with the time to wait', async () => {
  const { admit } = tAdmission({ GATEWAY_API_KEYS: `shop:${sha256(key)}:essays`, CALLER_REQUESTS_PER_MINUTE: '2' });
  const results = await Promise.all([1, 2, 3].map(() => admit(['x-api-key', key])));
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
  const { admit, admitBody } = tAdmission(env);
  expect(admit([])).toEqual({ kind: 'unsigned' });
  expect(await admitBody({ query: '{ find }' })).toMatchObject({ kind: 'anonymous' });
  expect(await admitBody({ query: '{ find }' })).toMatchObject({ status: 429 });
  expect(await admitBody({ query: '{ find }', extensions: { 'hmac-signature': 'x' } })).toMatchObject({ status: 401 });
});
