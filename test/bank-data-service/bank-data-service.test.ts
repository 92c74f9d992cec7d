import { describe, expect, it } from 'vitest';
import { createBankDataService } from '../../src/bank-data-service/create-bank-data-service.ts';
import { routes } from '../../src/bank-data-service/routes.ts';
import { createLog } from '../../src/base/log.ts';
import { createRedact } from '../../src/base/redact.ts';

const apiKey = 'right-key-5d1f';
const iban = 'DE89370400440532013000';
const validUrl = `/bank_data/iban_validate?iban_number=${iban}`;
const noRoute = { message: 'no Route matched with those values' };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';

function tService() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'trace', redact: createRedact([apiKey]), destination });
  const app = createBankDataService({ apiKey, log });
  app.get('/fault', () => {
    throw new Error(`failure for ${iban} and ${apiKey}`);
  });
  const get = async (url: string, headers: Record<string, string> = { apikey: apiKey }, method: Method = 'GET') => {
    const answer = await app.inject({ url, headers, method });
    return [answer.statusCode, answer.json()];
  };
  return { app, get, lines };
}

describe('the key', () => {
  const missing = 'No API key found in request';
  const wrong = 'Invalid authentication credentials';
  const urls = [validUrl, ...routes.map(({ path }) => path), '/', '/nowhere', '/%zz', '/fault'];

  it.each([
    ['no key', {}, missing],
    ['an empty key', { apikey: '' }, missing],
    ['a key in another header', { token: apiKey }, missing],
    ['a wrong key', { apikey: 'wrong' }, wrong],
    ['a key with an extra character', { apikey: `${apiKey}x` }, wrong],
    ['a key in capitals', { apikey: apiKey.toUpperCase() }, wrong],
  ])('is checked first: %s', async (_, headers, message) => {
    const { get } = tService();
    for (const url of urls) expect(await get(url, headers), url).toEqual([401, { message }]);
  });
});

describe('an unknown path', () => {
  it.each(['/', '/bank_data', '/bank_data/iban_validate/', '/bank_data/swift_checks?swift_code=X', '/%zz', `/${iban}`])(
    'is answered with 404: %s',
    async (url) => expect(await tService().get(url)).toEqual([404, noRoute]),
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'] as const)('is answered with 404 for method %s', async (method) => {
    expect(await tService().get(validUrl, { apikey: apiKey }, method)).toEqual([404, noRoute]);
  });
});

describe('a failure', () => {
  it('of the request is answered with its status only', async () => {
    const headers = { apikey: apiKey, 'content-type': 'application/json' };
    const answer = await tService().app.inject({ method: 'POST', url: validUrl, headers, payload: '{' });
    expect([answer.statusCode, answer.json()]).toEqual([400, { message: 'Bad Request' }]);
  });

  it('of the service contains no detail, and is logged once, without key and IBAN', async () => {
    const { get, lines } = tService();
    expect(await get(`/fault?iban_number=${iban}`)).toEqual([500, { message: 'Internal Server Error' }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('failure for [IBAN]');
    for (const hidden of [iban, apiKey]) expect(lines[0]).not.toContain(hidden);
  });

  it('of the service needs no log', async () => {
    const app = createBankDataService({ apiKey });
    app.get('/fault', () => Promise.reject(new Error('failure')));
    expect((await app.inject({ url: '/fault', headers: { apikey: apiKey } })).statusCode).toBe(500);
  });
});

it('ordinary requests are not logged', async () => {
  const { get, lines } = tService();
  for (const url of [validUrl, '/bank_data/iban_validate?iban_number=DE', `/${iban}`, `/%zz${iban}`]) {
    await get(url);
    await get(url, { apikey: `${apiKey}x` });
  }
  expect(lines).toEqual([]);
});
