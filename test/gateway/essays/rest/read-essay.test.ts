import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../src/base/parse-json.ts';
import { readEssay } from '../../../../src/gateway/essays/rest/read-essay.ts';

const description = 'The history of fountain pens, and why children in many countries still learn to write with them.';
const first = 'Fountain pens carry ink in a reservoir behind the nib. They replaced the quill, which had to be dipped.';
const second =
  'Schools kept them because they reward a light hand. Children learn to slow down, and to form each letter.';
const third = 'A pen that lasts a lifetime is rarely a luxury. It is a tool that its owner has learned to trust.';
const essay = `${first} ${second} ${third}`;
const all = [first, second, third].join('\n\n');
const html =
  '<!doctype html><html><body><h1>502 Bad Gateway</h1><p>The server is overloaded. Please wait.</p></body></html>';

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

/** What no body of test/data/essay-cases.json shows. */
it.each<[string, number, unknown, string | null]>([
  ['201', 201, { essay }, essay],
  ['an accepted order with a text', 202, { essay }, null],
  ['a part', 206, { essay }, null],
  ['two texts in unknown fields', 200, { one: essay, other: `${third} ${second} ${first}` }, null],
  [
    'candidates with a thought',
    200,
    {
      candidates: [
        { content: { parts: [{ text: `${third} ${second}`, thought: true }, { text: essay }] }, finishReason: 'STOP' },
      ],
    },
    essay,
  ],
  [
    'an essay in a conversation',
    200,
    {
      conversation: [
        { role: 'user', content: `Write about pens. ${third} ${second} ${first}` },
        { role: 'assistant', content: essay },
      ],
    },
    essay,
  ],
  [
    'output beside no error',
    200,
    { error: 'none', error_code: '0', status: 'processing_complete', output: essay },
    essay,
  ],
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
    'sections with paragraphs',
    200,
    {
      essay: {
        title: 'On pens',
        sections: [
          { heading: 'Past', paragraphs: [first, second] },
          { heading: 'Now', paragraphs: [third] },
        ],
      },
    },
    `On pens\n\nPast\n\n${first}\n\n${second}\n\nNow\n\n${third}`,
  ],
  ['sections of which one has an unknown name', 200, { introduction: first, middle: second, conclusion: third }, all],
  ['sections around a known field', 200, { introduction: first, content: second, conclusion: third }, all],
  ['sections beside the whole essay', 200, { introduction: first, text: all, conclusion: third }, all],
  ['drafts in a list', 200, { drafts: [{ essay }, { essay: `${third} ${second} ${first}` }] }, essay],
  [
    'long drafts in a list of texts',
    200,
    { data: [`${essay} ${first} `.repeat(4), `${third} ${second} ${first} ${third} `.repeat(3)] },
    `${essay} ${first} `.repeat(4),
  ],
  ['two choices', 200, { choices: [{ text: essay }, { text: `${third} ${second} ${first}` }] }, essay],
  ['parts of a sentence', 200, { parts: [{ text: essay.slice(0, 70) }, { text: essay.slice(70) }] }, essay],
  [
    'lines that repeat the text so far',
    200,
    [first, `${first} ${second}`, essay].map((text) => JSON.stringify({ text })).join('\n'),
    essay,
  ],
  ['XML', 200, `<?xml version="1.0"?><r><ok>1</ok><essay lang="en">${all}</essay></r>`, all],
  ['a page around an essay', 200, `<!DOCTYPE html><html><body>${essay}</body></html>`, essay],
  ['a page in a known field', 200, { result: html.replace('</p>', ` ${essay}</p>`) }, null],
  ['an essay and its HTML', 200, { plain: essay, html: `<p>${first}</p> <p>${second}</p> <p>${third}</p>` }, essay],
  ['JSON in a fence', 200, { text: `\`\`\`json\n${JSON.stringify({ essay })}\n\`\`\`` }, essay],
  ['names in capitals', 200, { Data: { Essay: essay, Summary: `${first} ${second}` } }, essay],
  [
    'responses with reasoning',
    200,
    {
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: `${third} ${second} ${first}` }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: essay, annotations: [] }] },
      ],
    },
    essay,
  ],
  ['an error in JSON in JSON', 200, { result: JSON.stringify({ error: `${first} ${second}`, code: 529 }) }, null],
  ['output beside a title', 200, { title: 'On pens', output: essay }, essay],
  ['ok: 0', 200, { ok: 0, essay }, null],
  ['status: false', 200, { status: false, text: essay }, null],
  ['problem details', 200, { type: 'about:blank', title: 'Unavailable', detail: `${first} ${second} ${third}` }, null],
  ['objects in place of flags', 200, { success: { toString: 1 }, text: essay }, essay],
  ['events with an error at the end', 200, `data: {"text":"${essay}"}\n\ndata: {"error":"overloaded"}\n\n`, null],
  ['lines of JSON that are cut off', 200, `{"text":"${essay} "}\n{"text":"${second}`, null],
  ['only reasoning', 200, { choices: [{ message: { content: null, reasoning_content: essay } }] }, null],
  [
    'words without sentences',
    200,
    {
      words:
        'pens ink nib paper school children letters hand light slow form quill dip wood steel gold cap clip barrel feed slit point line page book desk lamp shelf box case bag',
    },
    null,
  ],
  ['a trace of PHP', 200, `PHP Fatal error:  Uncaught Exception: ${essay} in /var/www/html/db.php:33`, null],
  ['a list of paragraphs beside unknown values', 200, { x: 7, a: 'x', paragraphs: [first, second, third] }, all],
  ['three fifths of the words beside a sign', 200, { essay: `${essay} ${essay} ${essay} They last.`, ok: false }, null],
])('a response of the essay service: %s, %i', (_, status, body, expected) => {
  expect(read(status, body)).toBe(expected);
});

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

  it('may name its topic only as what was sent, more than once', () => {
    const order = { description: 'The art of fountain pens', wordCount: 60 };
    const sentence = `${order.description} leaves a thought where others can find it, years later. `;
    const text = sentence.repeat(4).trim();
    expect(read(200, { essay: text }, {}, order)).toBe(text);
    expect(read(200, { essay: sentence }, {}, order)).toBeNull();
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

it('events of words may have numbers among them', () => {
  const text = `${essay} It was sold in 1884 for the first time.`;
  const events = text.replaceAll(/\S+/g, 'data: $&').replaceAll(' data:', '\n\ndata: ');
  expect(read(200, events)).toBe(text);
});

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
    ['8,000 tokens in events', toEvents(times(8_000, token))],
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
    ['200 texts that only look like JSON', { essay, texts: Array(200).fill('{a}') }],
    ['25,000 lines', `${'{"text":"ink "}\n'.repeat(25_000)}{"text":"pens"}`],
    ['12,000 sections', { sections: times(12_000, (i) => ({ title: `Part ${i}`, text: `Pens ${i}.` })) }],
    ['7,500 lines with empty ones between them', times(7_500, (i) => `{"text":"w${i} "}\n\n\n`).join('')],
    ['3,000 lines with other names', times(3_000, (i) => JSON.stringify({ [`text${i}`]: `${first} ` })).join('\n')],
    ['12,000 names', Object.fromEntries(times(12_000, (i) => [`section${i}`, 'Pens hold ink. They do.']))],
    ['3,000 drafts', { drafts: times(3_000, (i) => ({ title: 'Pens', text: `${first} ${i}` })) }],
  ])('%s is not', (_, body) => {
    expect(find(200, body, {}, long)).toBeNull();
  });
});
