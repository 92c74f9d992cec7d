// cspell:ignore errmsg
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../src/base/parse-json.ts';
import { readEssay } from '../../../../src/gateway/essays/rest/read-essay.ts';
import { createRandom } from '../../../support/e2e/random.ts';
import { description, essay, first, rows, second, trace } from '../../../support/gateway/essays/responses.ts';
import { rounds } from '../../../support/rounds.ts';

const ordered = { description, wordCount: 300 };
interface Declared {
  texts?: string[] | null;
  error?: string | null;
}

function find(status: number, body: unknown, { texts = null, error = null }: Declared = {}, order = ordered) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readEssay({ status, text, json: parseJson(text) }, order, order.description, { texts, error });
}

function read(status: number, body: unknown, declared: Declared = {}, order = ordered): string | null {
  return find(status, body, declared, order)?.text ?? null;
}

it.each(rows.filter(([, status]) => status >= 200 && status < 300))(
  'a response of the essay service: %s, %i',
  (_, status, body, expected) => {
    expect(read(status, body)).toBe(expected);
  },
);

describe('a declared field', () => {
  const quota = 'You have exceeded your monthly quota.';

  it.each<[string, unknown, string[], string | null]>([
    ['a path with an index', { data: { choices: [{ text: 'no' }, { text: essay }] } }, ['data.choices[1].text'], essay],
    ['an index with a dot', { parts: [{ draft: essay }] }, ['parts.0.draft'], essay],
    ['an index at the beginning', [{ text: essay }], ['[0].text'], essay],
    ['all elements of a list', { parts: [{ text: first }, { text: second }] }, ['parts.text'], `${first}\n\n${second}`],
    ['a list', { essay: { body: [first, second] } }, ['essay.body'], `${first}\n\n${second}`],
    ['several fields', { a: first, b: second }, ['b', 'a'], `${second}\n\n${first}`],
    ['a field that has the text of others', { a: first, b: `${first} ${second}` }, ['a', 'b'], `${first} ${second}`],
    ['JSON in a text', { body: JSON.stringify({ essay }) }, ['body.essay'], essay],
    ['another spelling of the name', { EssayText: essay }, ['essay_text'], essay],
    ['lines of JSON', '{"t":"Pens "}\n{"t":"hold "}\n{"t":"ink."}', ['t'], 'Pens hold ink.'],
    ['events', 'data: {"t":"Pens "}\n\ndata: {"t":"hold."}\n\n', ['t'], 'Pens hold.'],
    ['the whole body', 'Pens.', ['$'], 'Pens.'],
    ['a message', { essay: quota }, ['essay'], quota],
    [
      'a text beside signs of failure',
      { success: false, error: 'x', status: 'failed', essay: 'Pens.' },
      ['essay'],
      'Pens.',
    ],
    ['the description', { essay: description }, ['essay'], description],
    ['HTML, with its tags', { essay: `<p>${first}</p>` }, ['essay'], `<p>${first}</p>`],
    ['white space around', { essay: '\n Pens. \n' }, ['essay'], '\n Pens. \n'],
    [
      'a text of 60,000 characters beside 5,000 values',
      { a: Array(5_000).fill({ b: 1 }), t: 'Pens. '.repeat(10_000) },
      ['t'],
      'Pens. '.repeat(10_000),
    ],
    ['an empty text', { essay: ' \n', text: essay }, ['essay'], null],
    ['no text', { text: essay }, ['essay'], null],
    ['null', { essay: null }, ['essay'], null],
    ['no JSON', essay, ['essay'], null],
  ])('is the essay: %s', (_, body, texts, expected) => {
    for (const status of [200, 201, 202, 206]) expect(read(status, body, { texts })).toBe(expected);
  });

  it.each<[unknown, string, boolean]>([
    [{ code: 0 }, 'code', false],
    [{ code: 500 }, 'code', true],
    [{ meta: { problem: 'It is late.' } }, 'meta.problem', true],
    [{ meta: { problem: '' } }, 'meta.problem', false],
    [{ meta: {} }, 'meta.problem', false],
    [{ problems: [] }, 'problems', false],
    [{ problems: [{ text: 'It is late.' }] }, 'problems', true],
    [{ success: true }, 'success', false],
    [{ success: false }, 'success', true],
    [{ error: 'No error' }, 'error', false],
    [{ error: { code: 7 } }, 'error', true],
  ])('says that the order failed: %j, %s: %s', (fields, error, hasFailed) => {
    const body = { ...(fields as object), essay: `${essay} ${essay} ${essay} ${essay}` };
    for (const texts of [['essay'], null]) expect(read(200, body, { texts, error }) === null).toBe(hasFailed);
  });

  it('for failures is read in place of all others', () => {
    const body = { error: 'Something else', status: 'failed', essay };
    expect(read(200, body)).toBeNull();
    expect(read(200, body, { error: 'problem' })).toBe(essay);
  });
});

describe('the path of an essay', () => {
  it.each<[unknown, string[]]>([
    [{ essay }, ['essay']],
    [{ choices: [{ message: { content: essay } }] }, ['choices[0].message.content']],
    [
      {
        messages: [
          { role: 'user', content: description },
          { role: 'assistant', content: essay },
        ],
      },
      ['messages[1].content'],
    ],
    [{ content: [{ text: first }, { text: second }] }, ['content.text']],
    [{ introduction: first, body: [second, essay], conclusion: second }, ['introduction', 'body', 'conclusion']],
    [
      {
        sections: [
          { heading: 'Past', text: first },
          { heading: 'Now', text: second },
        ],
      },
      ['sections'],
    ],
    [essay, ['$']],
    [`{"response":"${first} "}\n{"response":"${second}"}`, ['response']],
  ])('in %j is %j, where it is read if that is declared', (body, paths) => {
    const found = find(200, body);
    expect(found?.paths).toEqual(paths);
    expect(read(200, body, { texts: paths })).toBe(found?.text);
  });
});

describe('a short text', () => {
  // cspell:disable
  const german = { description: 'Der Füller in der Schule, und warum er nicht verschwindet', wordCount: 300 };

  it.each([
    ['three words of five', { essay: 'Pens hold ink.' }, 5, 'Pens hold ink.'],
    ['19 words of 2,000', { text: first }, 2_000, first],
    ['58 words of 2,000 in an unknown field', { words: essay }, 2_000, essay],
    ['five words of 300', { essay: 'Pens hold ink. They write.' }, 300, null],
  ])('is an essay if it has a word of the description: %s', (_, body, wordCount, expected) => {
    expect(read(200, body, {}, { ...ordered, wordCount })).toBe(expected);
  });

  it.each([
    ['Ihr Kontingent ist aufgebraucht. Bitte warten Sie, oder kaufen Sie mehr.', null],
    ['Es ist ein Fehler aufgetreten, und der Text wurde nicht geschrieben, warum auch immer.', null],
    ['Ein Füller schreibt anders als ein Kugelschreiber, und das ist sein Vorteil.', german.description],
    ['Füllern gehört die Zukunft der Schulen, auch wenn sie teuer sind.', german.description],
  ])('in another language: %s', (text, expected) => {
    expect(read(200, { text }, {}, german)).toBe(expected === null ? null : text);
  });
  // cspell:enable

  it('may share no word if the description has only common ones, or is in another language than 150 words', () => {
    const text = 'It is never too late to begin with something.';
    expect(read(200, { text }, {}, { description: 'What would you write about?', wordCount: 300 })).toBe(text);
    const long = `${essay} `.repeat(3);
    expect(read(200, { text: long }, {}, { description: '鋼筆', wordCount: 2_000 })).toBe(long);
  });

  it('is not what was sent, with words around it', () => {
    const frame = `Topic: ${description} We will write it, and fountain pens were in it.`;
    for (const text of [description, `You asked for this: "${description}"`]) expect(read(200, { text })).toBeNull();
    expect(read(200, { text: frame })).toBe(frame);
  });

  it.each([
    "I'm sorry, but I can't write an essay about fountain pens.",
    'I cannot help with an essay about fountain pens, and why children learn to write with them.',
    'As an AI model, I am not able to describe the history of fountain pens for you.',
    'Could you please tell me more about the fountain pens and the children that you have in mind?',
    'Your essay about the history of fountain pens is being written, and will arrive by e-mail.',
    'We are unable to generate an essay about fountain pens in many countries, please try again later.',
  ])('on the topic is not a refusal, a question or a note: %s', (text) => {
    expect(read(200, { essay: text })).toBeNull();
  });
});

it('an essay about failures is one, also beside what was sent', () => {
  const order = {
    description: 'Why "please try again later", an invalid API key and exceeded quotas annoy',
    wordCount: 60,
  };
  const text =
    'Quotas annoy. The message says: please try again later, your quota is exceeded, and your key is invalid. '.repeat(
      3,
    );
  expect(read(200, { description: order.description, prompt: order.description, essay: text }, {}, order)).toBe(text);
  expect(read(200, { description: order.description }, {}, order)).toBeNull();
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

  it('have no essay if one sign of failure is added around it', () => {
    expect(right.length).toBeGreaterThan(50);
    const short = right.filter(([, , , expected]) => (expected?.length ?? 0) < 1_000);
    for (const [name, , body] of short)
      for (const sign of signs)
        expect([name, sign, read(200, { ...(body as object), ...sign })]).toEqual([name, sign, null]);
  });

  it('have the same essay if the sign is in a field beside it', () => {
    for (const [name, , body, expected] of right) {
      for (const sign of signs) {
        const changed = { plagiarism: sign, x_job: { state: sign }, ...(body as object) };
        expect([name, sign, read(200, changed)]).toEqual([name, sign, expected]);
      }
    }
  });

  it('have the same essay beside any sign if it has two thirds of the ordered words, in a field for texts', () => {
    const whole = { ...ordered, wordCount: 80 };
    for (const sign of signs) {
      for (const name of ['essay', 'text', 'output'])
        expect(read(200, { ...sign, [name]: essay }, {}, whole)).toBe(essay);
      expect(read(200, { ...sign, x_field: essay }, {}, whole)).toBeNull();
      expect(read(200, { ...sign, essay }, {}, { ...ordered, wordCount: 100 })).toBeNull();
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
      for (let round = 0; round < rounds(4); round += 1) {
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

it('JSON that is nested deeply has no essay', () => {
  const nested = '['.repeat(5_000) + JSON.stringify(essay) + ']'.repeat(5_000);
  expect(read(200, nested)).toBeNull();
  expect(read(200, { text: nested })).toBeNull();
});

describe('an answer of the size', () => {
  const long = { description, wordCount: 2_000 };
  // cspell:disable-next-line
  const thai = 'ปากกาเป็นเครื่องเขียน '.repeat(700);
  const token = (index: number) => ({ choices: [{ index: 0, delta: { content: ` w${index}` }, finish_reason: null }] });
  const toEvents = (values: readonly unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
  const times = <Value>(length: number, create: (index: number) => Value) =>
    Array.from({ length }, (_, i) => create(i));

  it.each<[string, unknown]>([
    ['2,000 words of Thai', { essay: thai }],
    ['60,000 characters', { essay: 'Pens hold ink. '.repeat(4_000) }],
    ['3,500 tokens in events', toEvents(times(3_500, token))],
    ['3,500 tokens beside their kind', toEvents(times(3_500, (i) => ({ name: 'content', text: ` w${i}` })))],
    [
      'events that repeat the text so far, beside a token',
      toEvents(times(400, (i) => ({ text: 'Pens. '.repeat(i + 1), delta: 'Pens.' }))),
    ],
    ['200 sections', { sections: times(200, (i) => ({ title: `Part ${i}`, text: `${first} ${i}` })) }],
  ])('%s is read', (_, body) => {
    expect(read(200, body, {}, long)?.length).toBeGreaterThan(1_000);
  });

  it.each<[string, unknown]>([
    ['160,000 letters of Thai', thai.repeat(11).slice(0, 160_000)],
    ['480,000 characters', { essay: 'Pens hold ink. '.repeat(32_000) }],
    ['480,000 characters in a list', { essay: Array(32_000).fill('Pens hold ink. ') }],
    ['50,000 broken events', `${'data: {"a\n'.repeat(50_000)}data: ${essay}`],
    ['25,000 lines', `${'{"text":"ink "}\n'.repeat(25_000)}{"text":"pens"}`],
    ['12,000 sections', { sections: times(12_000, (i) => ({ title: `Part ${i}`, text: `Pens ${i}.` })) }],
    ['12,000 names', Object.fromEntries(times(12_000, (i) => [`section${i}`, 'Pens hold ink. They do.']))],
    ['3,000 drafts', { drafts: times(3_000, (i) => ({ title: 'Pens', text: `${first} ${i}` })) }],
  ])('%s is not', (_, body) => {
    expect(find(200, body, {}, long)).toBeNull();
  });
});
