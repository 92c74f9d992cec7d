import { describe, expect, it } from 'vitest';
import { hideInternals, readEssayText, readWriter } from '../../../src/essays/rest/read-essay.ts';
import { createRandom } from '../../support/e2e/random.ts';

const description = 'The history of fountain pens, and why children in many countries still learn to write with them.';
const ordered = { description, wordCount: 300 };
const first = 'Fountain pens carry ink in a reservoir behind the nib. They replaced the quill, which had to be dipped.';
const second =
  'Schools kept them because they reward a light hand. Children learn to slow down, and to form each letter.';
const third = 'A pen that lasts a lifetime is rarely a luxury. It is a tool that its owner has learned to trust.';
const essay = `${first} ${second} ${third}`;
const all = [first, second, third].join('\n\n');
const html =
  '<!doctype html><html><body><h1>502 Bad Gateway</h1><p>The server is overloaded. Please wait.</p></body></html>';
const trace =
  'Traceback (most recent call last): File "/srv/app/writer/views.py", line 88, in generate. KeyError: the model is not loaded.';

/* Name, status, body (an object is sent as JSON), and the essay in it; null: there is none. */
const rows: [string, number, unknown, string | null][] = [
  // Fields with well-known names.
  ['essay', 200, { essay }, essay],
  ['result', 200, { result: essay }, essay],
  ['text', 200, { text: essay }, essay],
  ['content', 200, { content: essay }, essay],
  ['essay_text', 200, { essay_text: essay }, essay],
  ['generated_essay', 200, { generated_essay: essay }, essay],
  ['201', 201, { essay }, essay],
  ['data', 200, { data: essay }, essay],
  ['data.essay', 200, { data: { essay } }, essay],
  ['data.text', 200, { data: { text: essay, id: 7 } }, essay],
  ['essay.content', 200, { essay: { title: 'Pens', content: essay } }, essay],
  ['result.text', 200, { result: { text: essay } }, essay],
  ['response.content', 200, { response: { content: essay } }, essay],
  ['a bare text', 200, JSON.stringify(essay), essay],
  ['a short essay in a known field', 200, { essay: 'Pens hold ink.' }, 'Pens hold ink.'],
  ['an essay beside what succeeded', 200, { success: true, message: 'Essay generated.', essay }, essay],
  ['an essay beside empty errors', 200, { error: null, errors: [], essay }, essay],
  ['an essay beside good states', 200, { status: 'success', code: 200, essay }, essay],
  ['an essay beside counts', 200, { essay, word_count: 60, usage: { requests: 12, remaining: 88 } }, essay],
  ['an essay beside its writer', 200, { essay, word_count: 60, writer: 'drafter' }, essay],
  ['an essay beside what was sent', 200, { description, mode: 'Standard', essay }, essay],
  [
    'an essay about failing and quotas',
    200,
    { essay: `${essay} ${essay} ${essay} A quota is exceeded.` },
    `${essay} ${essay} ${essay} A quota is exceeded.`,
  ],
  ['the first known field that is not empty', 200, { essay: ' ', text: essay }, essay],
  // The only prose.
  ['output', 200, { output: essay }, essay],
  ['answer.body', 200, { answer: { body: essay, language: 'en' } }, essay],
  ['choices', 200, { choices: [{ message_text: essay }] }, essay],
  ['output beside an echo', 200, { prompt: description, output: essay }, essay],
  ['output beside a title', 200, { title: 'On pens', output: essay }, essay],
  ['plain text', 200, essay, essay],
  ['plain text in paragraphs', 200, all, all],
  ['output beside a word in a known field', 200, { result: 'success', content: 'text/plain', output: essay }, essay],
  ['output beside a short message', 200, { message: 'OK', output: essay }, essay],
  [
    'output beside no error',
    200,
    { error: 'none', error_code: '0', status: 'processing_complete', output: essay },
    essay,
  ],
  ['Chinese', 200, { output: '钢笔'.repeat(40).concat('。') }, '钢笔'.repeat(40).concat('。')],
  ['Chinese plain text', 200, '钢笔在笔尖后面储存墨水。'.repeat(8), '钢笔在笔尖后面储存墨水。'.repeat(8)],
  // Sections.
  ['named sections', 200, { introduction: first, body: second, conclusion: third }, all],
  [
    'named sections and a title',
    200,
    { title: 'On pens', introduction: first, body: second, conclusion: third },
    `On pens\n\n${all}`,
  ],
  ['numbered sections', 200, { section_1: first, section_2: second, section_3: third }, all],
  ['a list of paragraphs', 200, { paragraphs: [first, second, third] }, all],
  [
    'a list of sections with headings',
    200,
    {
      sections: [
        { heading: 'Past', text: first },
        { heading: 'Now', text: `${second} ${third}` },
      ],
    },
    `Past\n\n${first}\n\nNow\n\n${second} ${third}`,
  ],
  [
    'sections with a list of paragraphs',
    200,
    { introduction: first, body_paragraphs: [second], conclusion: third },
    all,
  ],
  ['sections of which one has an unknown name', 200, { introduction: first, middle: second, conclusion: third }, null],
  ['sections in data', 200, { data: { intro: first, body: [second], conclusion: third } }, all],
  ['a bare list of paragraphs', 200, [first, second, third], all],
  // Messages of a service that did not write.
  [
    'an exceeded quota',
    200,
    { success: false, message: 'Monthly quota exceeded. Upgrade your plan to continue.' },
    null,
  ],
  ['an exceeded quota, as a success', 200, { message: 'You have exceeded your monthly limit of 100 requests.' }, null],
  ['an exceeded quota in a known field', 200, { result: 'Your monthly request limit has been reached.' }, null],
  ['unauthenticated', 200, { message: 'Unauthenticated.' }, null],
  ['not authenticated', 200, { detail: 'Not authenticated.' }, null],
  ['an invalid token', 200, { text: 'Invalid token.' }, null],
  ['a missing key', 200, { content: 'No API key found in request' }, null],
  ['an error', 200, { error: 'The model is overloaded.' }, null],
  ['a message beside a writer', 200, { message: 'Unauthenticated.', writer: 'model' }, null],
  ['a writer alone', 200, { writer: essay.slice(0, 30) }, null],
  [
    'words in known fields',
    200,
    { result: 'done', text: 'null', content: '4f1c2c1e-8a52-4c1e-9d1b-2f6f0d7c1a11' },
    null,
  ],
  ['a limit of the provider', 200, { text: 'Billing hard limit has been reached' }, null],
  ['too many attempts', 200, { content: 'Too Many Attempts.' }, null],
  ['objects in place of flags', 200, { success: { toString: 1 }, text: essay }, essay],
  ['status: false', 200, { status: false, text: essay }, null],
  ['a filtered answer', 200, { finish_reason: 'content_filter', text: essay }, null],
  ['JSON that is cut off', 200, `{"essay":"${essay}`, null],
  ['a list of thousands', 200, Array.from({ length: 5_000 }, () => essay), null],
  ['an error beside an essay', 200, { error: 'The model is overloaded.', essay }, null],
  ['errors by field', 200, { errors: { description: ['The description is required.'] } }, null],
  ['a failed state', 200, { status: 'failed', essay }, null],
  ['a failed code', 200, { code: 500, text: essay }, null],
  ['a failed code, as a text', 200, { statusCode: '429', text: essay }, null],
  ['success: "false"', 200, { success: 'false', essay }, null],
  ['ok: 0', 200, { ok: 0, essay }, null],
  ['a long explanation', 200, { message: `${first} ${second} ${third}` }, null],
  ['a long reason beside nothing', 200, { reason: essay, output: null }, null],
  ['an exception with the path of a file', 200, { exception: trace }, null],
  ['a trace in a known field', 200, { result: trace }, null],
  ['a task', 202, { task: 'a81f', status: 'queued' }, null],
  ['a task with 200', 200, { task_id: 'a81f', text: essay }, null],
  ['an accepted order with a text', 202, { essay }, null],
  ['no content', 204, '', null],
  ['a part', 206, { essay }, null],
  ['an echo in the only field', 200, { output: description }, null],
  ['an echo in a known field', 200, { text: description.toUpperCase() }, null],
  ['an echo and a shorter text', 200, { description, output: 'The history of fountain pens.' }, null],
  ['an echo with a prefix', 200, { output: `Write about: ${description}` }, null],
  ['the words of the order only', 200, { topic: description, mode: 'Standard', word_count: 300 }, null],
  ['two drafts', 200, { draft: essay, other: `${third} ${second} ${first}` }, null],
  [
    'words without sentences',
    200,
    {
      output:
        'pens ink nib paper school children letters hand light slow form quill dip wood steel gold cap clip barrel feed slit point line page book desk lamp shelf box case bag',
    },
    null,
  ],
  ['too few words', 200, { output: 'Pens hold ink. They write.' }, null],
  ['identifiers only', 200, { id: 'a81f', created_at: '2026-11-25T12:00:00Z' }, null],
  ['an empty object', 200, {}, null],
  ['null', 200, 'null', null],
  ['a number', 200, '7', null],
  ['an empty essay', 200, { essay: '' }, null],
  ['HTML', 200, html, null],
  ['HTML in a field', 200, { output: '<p>Pens</p>' }, null],
  ['an empty body', 200, '', null],
  ['plain text of a failure', 200, 'Internal Server Error. Please try again later.', null],
  ['an essay with 400', 400, { essay }, null],
  ['an essay with 500', 500, { essay }, null],
  ['an essay with 302', 302, { essay }, null],
];

function read(status: number, body: unknown, textField: string | null = null): string | null {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return readEssayText({ status, text, json }, ordered, textField);
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
    expect(read(200, { a: { b: ['x', 'Short.'] } }, 'a.b.1')).toBe('Short.');
  });

  it('is not read beside a sign of failure, or if it is a message', () => {
    expect(read(200, { success: false, other: essay }, 'other')).toBeNull();
    expect(read(200, { other: 'Unauthenticated.' }, 'other')).toBeNull();
    expect(read(200, { other: description }, 'other')).toBeNull();
  });
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
  ];

  it('have no essay if one sign of failure is added anywhere', () => {
    expect(right.length).toBeGreaterThan(20);
    for (const [name, , body] of right) {
      for (const sign of signs) {
        for (const place of placesOf(body as Record<string, unknown>)) {
          const changed = structuredClone(body) as Record<string, unknown>;
          Object.assign(
            place.reduce<Record<string, unknown>>((parent, key) => parent[key] as never, changed),
            sign,
          );
          expect([name, sign, read(200, changed)]).toEqual([name, sign, null]);
        }
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
function placesOf(body: Record<string, unknown>, path: readonly string[] = []): (readonly string[])[] {
  const below = Object.entries(body).flatMap(([name, value]) =>
    isPlainObject(value) ? placesOf(value as Record<string, unknown>, [...path, name]) : [],
  );
  return [path, ...below];
}

it('what is shown of a failure has no paths of a server and no credentials', () => {
  const shown = hideInternals(
    `${trace} C:\\app\\main.cs {"token":"abc-123","api_key": "k-9"} Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln password=hunter2`,
  );
  expect(shown).toContain('Traceback (most recent call last): File "[path]", line 88');
  for (const hidden of ['/srv', 'views.py', 'main.cs', 'abc-123', 'k-9', 'eyJ', 'hunter2'])
    expect(shown).not.toContain(hidden);
});
