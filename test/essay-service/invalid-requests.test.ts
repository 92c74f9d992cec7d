import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { apiKey, body, orderHead, tService } from '../support/essay-service/service.ts';

describe('the token', () => {
  it.each([undefined, '', 'wrong', `${apiKey} `.repeat(2), apiKey.toUpperCase()])('%j is rejected', async (token) => {
    const { app, orders } = tService();
    const headers = token === undefined ? {} : { token };
    const answer = await app.inject({ method: 'POST', url: '/v2/generate/essay/', headers, payload: body });
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toEqual({ error: 'Invalid token.' });
    expect(orders).toEqual([]);
  });

  it('is checked before an invalid body', async () => {
    expect((await tService().post('{', { token: 'wrong' })).statusCode).toBe(401);
    expect((await tService().post('x'.repeat(1_000_000), { token: 'wrong' })).statusCode).toBe(401);
  });

  it('is rejected before the body arrives', async () => {
    const socket = await tService().connect();
    socket.write(orderHead('wrong', 1_000));
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 .*\{"error":"Invalid token\."\}$/s);
  });
});

describe('a body that is not an order', () => {
  async function expectRejected(payload: unknown, message: RegExp, headers = {}) {
    const { post, orders } = tService({ monthlyAllowance: 1 });
    const answer = await post(payload, headers);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ error: expect.stringMatching(message) });
    expect(orders).toEqual([]);
  }

  it.each([
    ['{"description":', /not well-formed JSON/],
    ['{"__proto__":{"a":1}}', /not well-formed JSON/],
    ['', /empty/],
    ['null', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['"text"', /must be a JSON object/],
    ['{}', /description is missing.*mode is missing.*word_count is missing/],
  ])('%s', (payload, message) => expectRejected(payload, message));

  it.each([
    ['description', undefined, /^description is missing/],
    ['description', ' \n', /^description must be text/],
    ['description', 7, /^description must be text/],
    ['mode', undefined, /^mode is missing: .*Standard, Academic, Professional, Journalistic, Detailed/],
    ['mode', 'Brief', /^mode must be one of Standard, Academic, Professional, Journalistic, Detailed\.$/],
    ['mode', 3, /^mode must be one of/],
    ['word_count', undefined, /^word_count is missing: .*whole number from 1 to 2000/],
    ['word_count', '100', /^word_count must be a whole number from 1 to 2000, sent as a JSON number\.$/],
    ['word_count', 0, /^word_count must/],
    ['word_count', 2001, /^word_count must/],
    ['word_count', 1.5, /^word_count must/],
    ['word_count', null, /^word_count must/],
  ])('%s: %j', (parameter, value, message) => expectRejected({ ...body, [parameter]: value }, message));

  it('that is too large', () => expectRejected({ ...body, description: 'a'.repeat(300_000) }, /too large.*256 KiB/));

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])('%s', (contentType) =>
    expectRejected(body, /application\/json/, { 'content-type': contentType }),
  );
});

describe('another path', () => {
  it.each([
    ['GET', '/v2/generate/essay/'],
    ['POST', '/'],
    ['POST', '/v1/generate/essay/'],
    ['POST', '/v2/generate/essay/more'],
  ] as const)('%s %s is not found', async (method, url) => {
    const answer = await tService().app.inject({ method, url, headers: { token: apiKey } });
    expect(answer.statusCode).toBe(404);
    expect(Object.keys(answer.json())).toEqual(['error']);
  });

  it('errors for an invalid path and for bytes that are not HTTP have the same form', async () => {
    const { app, connect } = tService();
    const bad = await app.inject({ method: 'POST', url: '/%zz' });
    expect([bad.statusCode, Object.keys(bad.json())]).toEqual([400, ['error']]);
    const socket = await connect();
    socket.end('NOT HTTP\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(Object.keys(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''))).toEqual(['error']);
  });
});
