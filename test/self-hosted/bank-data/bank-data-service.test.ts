import { describe, expect, it } from 'vitest';
import { createBankDataService } from '../../../src/self-hosted/bank-data/create-bank-data-service.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createRedact } from '../../../src/telemetry/redact.ts';

const apiKey = 'right-key-5d1f';
const iban = 'DE89370400440532013000';
const validUrl = `/bank_data/iban_validate?iban_number=${iban}`;
const noRoute = { message: 'no Route matched with those values' };

function tService() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'trace', redact: createRedact([apiKey]), destination });
  const app = createBankDataService({ apiKey, log });
  app.get('/fault', () => {
    throw new Error(`failure for ${iban} and ${apiKey}`);
  });
  return { app, lines };
}

describe('the key', () => {
  const missing = 'No API key found in request';
  const wrong = 'Invalid authentication credentials';
  const urls = [validUrl, '/bank_data/iban_validate', '/', '/nowhere', '/%zz', '/fault'];

  it.each([
    ['no key', {}, missing],
    ['an empty key', { apikey: '' }, missing],
    ['a key in another header', { token: apiKey }, missing],
    ['a wrong key', { apikey: 'wrong' }, wrong],
    ['a key with an extra character', { apikey: `${apiKey}x` }, wrong],
    ['a key in capitals', { apikey: apiKey.toUpperCase() }, wrong],
  ])('is checked first: %s', async (_, headers, message) => {
    const { app } = tService();
    for (const url of urls) {
      const answer = await app.inject({ url, headers });
      expect([answer.statusCode, answer.json()], url).toEqual([401, { message }]);
    }
  });

  it('allows a request if it is right', async () => {
    const answer = await tService().app.inject({ url: validUrl, headers: { apikey: apiKey } });
    expect(answer.statusCode).toBe(200);
  });
});

describe('an unknown path', () => {
  it.each(['/', '/bank_data', '/bank_data/iban_validate/', '/bank_data/swift_checks?swift_code=X', '/%zz', `/${iban}`])(
    'is answered with 404: %s',
    async (url) => {
      const answer = await tService().app.inject({ url, headers: { apikey: apiKey } });
      expect([answer.statusCode, answer.json()]).toEqual([404, noRoute]);
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'] as const)('is answered with 404 for method %s', async (method) => {
    const answer = await tService().app.inject({ method, url: validUrl, headers: { apikey: apiKey } });
    expect([answer.statusCode, answer.json()]).toEqual([404, noRoute]);
  });
});

describe('a failure', () => {
  it('of the request is answered with its status only', async () => {
    const headers = { apikey: apiKey, 'content-type': 'application/json' };
    const answer = await tService().app.inject({ method: 'POST', url: validUrl, headers, payload: '{' });
    expect([answer.statusCode, answer.json()]).toEqual([400, { message: 'Bad Request' }]);
  });

  it('of the service contains no detail, and is logged once', async () => {
    const { app, lines } = tService();
    const answer = await app.inject({ url: '/fault', headers: { apikey: apiKey } });
    expect([answer.statusCode, answer.json()]).toEqual([500, { message: 'Internal Server Error' }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('failure for [IBAN]');
  });
});

describe('the log', () => {
  it('has no lines about ordinary requests', async () => {
    const { app, lines } = tService();
    for (const url of [validUrl, '/bank_data/iban_validate?iban_number=DE', `/${iban}`, `/%zz${iban}`]) {
      await app.inject({ url, headers: { apikey: apiKey } });
      await app.inject({ url, headers: { apikey: `${apiKey}x` } });
    }
    expect(lines).toEqual([]);
  });

  it('contains neither key nor IBAN', async () => {
    const { app, lines } = tService();
    await app.inject({ url: `/fault?iban_number=${iban}`, headers: { apikey: apiKey } });
    expect(lines.join('')).not.toContain(iban);
    expect(lines.join('')).not.toContain(apiKey);
  });

  it('is optional', async () => {
    const app = createBankDataService({ apiKey });
    app.get('/fault', () => {
      throw new Error('failure');
    });
    expect((await app.inject({ url: '/fault', headers: { apikey: apiKey } })).statusCode).toBe(500);
  });
});
