import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { apiKey, body, tService } from '../../support/self-hosted/essays/service.ts';

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
    const { app } = tService();
    const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), hostname);
    socket.write(
      'POST /v2/generate/essay/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nToken: wrong\r\n' +
        'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    );
    const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 .*\{"error":"Invalid token\."\}$/s);
  });
});

describe('a body that is not an order', () => {
  it.each([
    ['{"description":', /not well-formed JSON/],
    ['{"__proto__":{"a":1}}', /not well-formed JSON/],
    ['', /empty/],
    ['null', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['"text"', /must be a JSON object/],
    ['{}', /description is missing.*mode is missing.*word_count is missing/],
  ])('%s', async (payload, message) => {
    const { post, orders } = tService();
    const answer = await post(payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ error: expect.stringMatching(message) });
    expect(orders).toEqual([]);
  });

  it.each([
    ['description', undefined, /^description is missing/],
    ['description', ' \n', /^description must be text/],
    ['description', 7, /^description must be text/],
    ['mode', undefined, /^mode is missing: .*Standard, Academic, Professional, Journalistic/],
    ['mode', 'Detailed', /^mode must be one of Standard, Academic, Professional, Journalistic\.$/],
    ['mode', 3, /^mode must be one of/],
    ['word_count', undefined, /^word_count is missing: .*whole number from 1 to 2000/],
    ['word_count', '100', /^word_count must be a whole number from 1 to 2000, sent as a JSON number\.$/],
    ['word_count', 0, /^word_count must/],
    ['word_count', 2001, /^word_count must/],
    ['word_count', 1.5, /^word_count must/],
    ['word_count', null, /^word_count must/],
  ])('%s: %j', async (parameter, value, message) => {
    const answer = await tService({ monthlyAllowance: 1 }).post({ ...body, [parameter]: value });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ error: expect.stringMatching(message) });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])(
    'is rejected as %s',
    async (contentType) => {
      const answer = await tService().post(JSON.stringify(body), { 'content-type': contentType });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ error: expect.stringContaining('application/json') });
    },
  );

  it('is rejected if it is too large', async () => {
    const answer = await tService().post({ ...body, description: 'a'.repeat(300_000) });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ error: expect.stringMatching(/too large.*256 KiB/) });
  });
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
    const { app } = tService();
    const bad = await app.inject({ method: 'POST', url: '/%zz' });
    expect([bad.statusCode, Object.keys(bad.json())]).toEqual([400, ['error']]);
    const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), hostname);
    socket.end('NOT HTTP\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(Object.keys(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''))).toEqual(['error']);
  });
});
