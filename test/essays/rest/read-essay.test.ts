// cspell:ignore Fehler aufgetreten errmsg AIza
import { describe, expect, it } from 'vitest';
import { hideInternals } from '../../../src/essays/rest/failure-signs.ts';
import { readEssayText, readWriter } from '../../../src/essays/rest/read-essay.ts';
import { createRandom } from '../../support/e2e/random.ts';
import { description, essay, first, rows, second, trace } from '../../support/essays/responses.ts';

const ordered = { description, wordCount: 300 };

function read(status: number, body: unknown, textField: string | null = null, order = ordered): string | null {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return readEssayText({ status, text, json }, order, textField);
}

it.each(rows)('a response of the essay service: %s, %i', (_, status, body, expected) => {
  expect(read(status, body)).toBe(expected);
});

it.each([
  [{ essay, writer: 'drafter' }, 'DRAFTER'],
  [{ essay, writer: 'model' }, 'MODEL'],
  [{ essay }, 'SERVICE'],
  [{ essay, writer: 'Jane Doe' }, 'SERVICE'],
  [{ essay, writer: ['model'] }, 'SERVICE'],
  [{ data: { essay, writer: 'model' } }, 'SERVICE'],
  [essay, 'SERVICE'],
  [undefined, 'SERVICE'],
])('the writer in %j is %s', (body, writer) => {
  expect(readWriter(body)).toBe(writer);
});

describe('a configured field', () => {
  it('is read where no rule would find an essay', () => {
    expect(read(200, { draft: essay, other: essay }, 'other')).toBe(essay);
    expect(read(200, { a: { b_c: ['x', `1. ${essay.replaceAll('.', ',')}`] } }, 'a.b_c.1')).toContain('1. Fountain');
    expect(read(200, { body: JSON.stringify({ a: essay, b: second }) }, 'body.b', { ...ordered, wordCount: 30 })).toBe(
      second,
    );
  });

  it('is not read beside a sign of failure, or if it is a message', () => {
    expect(read(200, { success: false, other: essay }, 'other')).toBeNull();
    expect(read(200, { other: 'Unauthenticated.' }, 'other')).toBeNull();
    expect(read(200, { other: description }, 'other')).toBeNull();
    expect(read(200, { other: 'Ein Fehler ist aufgetreten.' }, 'other')).toBeNull();
  });
});

describe('a short text', () => {
  const words = (count: number) => essay.split(' ').slice(0, count).join(' ');

  it.each([
    ['three words of five', { essay: 'Pens hold ink.' }, 5, 'Pens hold ink.'],
    ['19 words of 50', { text: first }, 50, first],
    ['19 words of 57', { text: first }, 57, first],
    ['19 words of 58', { text: first }, 58, null],
    ['40 words of 2,000', { essay: words(40) }, 2_000, words(40)],
    ['39 words of 2,000', { essay: words(39) }, 2_000, null],
    ['58 words of 2,000 in an unknown field', { output: essay }, 2_000, null],
    ['58 words of 500 in an unknown field', { output: essay }, 500, essay],
    ['seven words of ten in an unknown field', { output: 'Pens hold ink. They write with it.' }, 10, null],
  ])('is an essay if it has enough of the ordered words: %s', (_, body, wordCount, expected) => {
    expect(read(200, body, null, { ...ordered, wordCount })).toBe(expected);
  });
});

it('an essay about failures is one, also beside what was sent', () => {
  const order = {
    description: 'Why "please try again later", an invalid API key and exceeded quotas annoy',
    wordCount: 60,
  };
  const text = `${essay} ${essay} The message said: please try again later, your request could not be processed.`;
  expect(read(200, { description: order.description, prompt: order.description, essay: text }, null, order)).toBe(text);
  expect(read(200, { description: order.description }, null, order)).toBeNull();
});

describe('near misses', () => {
  const right = rows.filter(([, status, body, expected]) => status === 200 && expected !== null && isPlainObject(body));
  const signs: Record<string, unknown>[] = [
    { success: false },
    { ok: false },
    { error: 'The model is overloaded.' },
    { errors: ['Too long.'] },
    { status: 'error' },
    { status: 'pending' },
    { code: 503 },
    { statusCode: 429 },
    { exception: 'KeyError' },
    { traceback: trace },
    { message: 'You have exceeded your quota.' },
    { detail: 'Invalid token.' },
    { reason: 'Internal server error' },
    { job_id: 'a81f' },
    { isValid: 'no' },
    { ack: 'Failure' },
    { resultCode: 'ERROR' },
    { code: -1 },
    { code: 40029 },
    { task_status: 'PROCESSING' },
    { finishReason: 'SAFETY' },
    { refusal: 'I cannot write this.' },
    { flagged: true },
    { err_msg: 'login fail' },
  ];
  const signsOfSuccess: object[] = [
    { success: true, message: 'Your essay has been generated successfully.' },
    { status: 'ok', code: 0, msg: '操作成功' },
    { statusCode: 200, finish_reason: 'stop', refusal: null },
    { error: null, errors: [], error_code: 0, errmsg: 'success', flagged: false },
    { task_id: 'a81f', task_status: 'SUCCESS' },
    { info: 'Rate limit: 10 requests per minute.', notice: 'Upgrade to Pro for longer essays.' },
    { usage: { requests: 12, remaining: 88 }, warnings: [], prompt: `Write an essay. ${description}` },
  ];

  it('have no essay if one sign of failure is added anywhere', () => {
    expect(right.length).toBeGreaterThan(50);
    for (const [name, , body] of right) {
      for (const sign of signs) {
        // A finished task has an identifier, too.
        if ('job_id' in sign && /success|succeeded|completed?\b/i.test(JSON.stringify(body))) continue;
        for (const path of pathsOf(body)) {
          const changed = structuredClone(body);
          const place = path.reduce<unknown>((parent, key) => Reflect.get(parent as object, key), changed);
          Object.assign(place as object, sign);
          expect([name, sign, path, read(200, changed)]).toEqual([name, sign, path, null]);
        }
      }
    }
  });

  it('have the same essay if fields are added that say that all is well', () => {
    for (const [name, , body, expected] of right) {
      for (const sign of signsOfSuccess) {
        const changed = { ...sign, ...(body as object) };
        expect([name, sign, read(200, changed)]).toEqual([name, sign, expected]);
      }
    }
  });

  it('have the same essay if unknown fields are added', () => {
    const random = createRandom(7);
    const values = [7, true, null, 'en', '2026-11-25', 'a81f-22', 'claude', 0.5, ['pens', 'ink'], { total: 5 }, ''];
    for (const [name, , body, expected] of right) {
      for (let round = 0; round < 20; round += 1) {
        const added = Object.fromEntries(
          Array.from({ length: 1 + random(3) }, (_, index) => [
            `x_${'abcdef'[index]}${random(99)}`,
            values[random(values.length - 1)],
          ]),
        );
        const changed = random(1) === 0 ? { ...(body as object), ...added } : { ...added, ...(body as object) };
        expect([name, added, read(200, changed)]).toEqual([name, added, expected]);
      }
    }
  });
});

function isPlainObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/** The paths of all objects in a body. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([name, child]) => pathsOf(child, [...path, name]));
  return Array.isArray(value) ? below : [path, ...below];
}

it('what is shown of a failure has no paths of a server and no credentials', () => {
  const shown = hideInternals(
    `${trace} C:\\app\\main.cs {"token":"zz-123","api_key": "zz-9"} Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln password=zz2`,
  );
  expect(shown).toContain('Traceback (most recent call last): File "[path]", line 88');
  for (const hidden of ['/srv', 'views.py', 'main.cs', 'zz', 'eyJ']) expect(shown).not.toContain(hidden);
});

it.each([
  'Incorrect API key provided: sk-proj-zz-9123def456.',
  'Bearer zz-9.def-123 is invalid',
  'postgres://user:zz@db.internal/db',
  'file:///srv/zz/x.py',
  '{"path":"\\/home\\/zz\\/x"}',
  'at x (/app/dist/zz.js:1:2)',
  '/nix/store/zz',
  '"x-api-key":"zz-9"',
  '"private_key":"-----BEGIN zz"',
  'Set-Cookie: sid=zz-9',
  '"sessionId":"zz-9"',
  'PASSPHRASE=zz-9',
  'pwd: zz-9',
  '?key=AIza-zz-zz-zz-zz-zz-zz-zz-zz-zz-zz-zz-zz',
  'ghp_zz0123456789',
])('what is shown of a failure has no secret: %s', (text) => {
  expect(hideInternals(text)).not.toContain('zz');
});

it.each([essay, 'Tolkien gave a token of the past: a ring.', 'Bearer bonds, and/or the secret of a password.'])(
  'what is shown of a failure has all of a text: %s',
  (text) => {
    expect(hideInternals(text)).toBe(text);
  },
);
