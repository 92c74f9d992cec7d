import { describe, expect, it } from 'vitest';
import { createBankDataService } from '../../../src/self-hosted/bank-data/create-bank-data-service.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createRedact } from '../../../src/telemetry/redact.ts';

const API_KEY = 'right-key-5d1f';
const iban = 'DE89370400440532013000';
const question = `/bank_data/iban_validate?iban_number=${iban}`;
const noRoute = { message: 'no Route matched with those values' };

function tService() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'trace', redact: createRedact([API_KEY]), destination });
  const app = createBankDataService({ apiKey: API_KEY, log });
  app.get('/fault', () => {
    throw new Error(`nothing works for ${iban} and ${API_KEY}`);
  });
  return { app, lines };
}

describe('the key', () => {
  const refusals = [
    { why: 'no key', headers: {}, message: 'No API key found in request' },
    { why: 'an empty key', headers: { apikey: '' }, message: 'No API key found in request' },
    { why: 'a key in another header', headers: { token: API_KEY }, message: 'No API key found in request' },
    { why: 'a wrong key', headers: { apikey: 'wrong' }, message: 'Invalid authentication credentials' },
    { why: 'a key that goes on', headers: { apikey: `${API_KEY}x` }, message: 'Invalid authentication credentials' },
    {
      why: 'a key in capitals',
      headers: { apikey: API_KEY.toUpperCase() },
      message: 'Invalid authentication credentials',
    },
  ];
  const urls = [question, '/bank_data/iban_validate', '/', '/nowhere', '/%zz', '/fault'];

  it.each(refusals)('is asked for before anything else: $why', async ({ headers, message }) => {
    const { app } = tService();
    for (const url of urls) {
      const answer = await app.inject({ url, headers });
      expect([answer.statusCode, answer.json()], url).toEqual([401, { message }]);
    }
  });

  it('lets a request through when it is right', async () => {
    const answer = await tService().app.inject({ url: question, headers: { apikey: API_KEY } });
    expect(answer.statusCode).toBe(200);
  });
});

describe('what is not there', () => {
  it.each(['/', '/bank_data', '/bank_data/iban_validate/', '/bank_data/swift_checks?swift_code=X', '/%zz', `/${iban}`])(
    'is answered 404: %s',
    async (url) => {
      const answer = await tService().app.inject({ url, headers: { apikey: API_KEY } });
      expect([answer.statusCode, answer.json()]).toEqual([404, noRoute]);
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'] as const)('is answered 404 when asked with %s', async (method) => {
    const answer = await tService().app.inject({ method, url: question, headers: { apikey: API_KEY } });
    expect([answer.statusCode, answer.json()]).toEqual([404, noRoute]);
  });
});

describe('a failure', () => {
  it('of the request is answered by its status alone', async () => {
    const headers = { apikey: API_KEY, 'content-type': 'application/json' };
    const answer = await tService().app.inject({ method: 'POST', url: question, headers, payload: '{' });
    expect([answer.statusCode, answer.json()]).toEqual([400, { message: 'Bad Request' }]);
  });

  it('of the service shows no detail, and is logged once', async () => {
    const { app, lines } = tService();
    const answer = await app.inject({ url: '/fault', headers: { apikey: API_KEY } });
    expect([answer.statusCode, answer.json()]).toEqual([500, { message: 'Internal Server Error' }]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('nothing works for [IBAN]');
  });
});

describe('the log', () => {
  it('says nothing about ordinary requests', async () => {
    const { app, lines } = tService();
    for (const url of [question, '/bank_data/iban_validate?iban_number=DE', `/${iban}`, `/%zz${iban}`]) {
      await app.inject({ url, headers: { apikey: API_KEY } });
      await app.inject({ url, headers: { apikey: `${API_KEY}x` } });
    }
    expect(lines).toEqual([]);
  });

  it('never holds a key or an IBAN', async () => {
    const { app, lines } = tService();
    await app.inject({ url: `/fault?iban_number=${iban}`, headers: { apikey: API_KEY } });
    expect(lines.join('')).not.toContain(iban);
    expect(lines.join('')).not.toContain(API_KEY);
  });

  it('may be left out', async () => {
    const app = createBankDataService({ apiKey: API_KEY });
    app.get('/fault', () => {
      throw new Error('nothing works');
    });
    expect((await app.inject({ url: '/fault', headers: { apikey: API_KEY } })).statusCode).toBe(500);
  });
});
