// cspell:ignore errmsg
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../src/base/parse-json.ts';
import { type DeclaredFields, readEssay } from '../../../../src/gateway/essays/rest/read-essay.ts';
import { createRestEssays } from '../../../../src/gateway/essays/rest/rest-essays.ts';
import { tRequestContext } from '../../../support/gateway/callers.ts';
import { modeNames, order, sendOrder } from '../../../support/gateway/essays/generator.ts';
import { received, tOrders } from '../../../support/gateway/upstream/send.ts';

/* Bodies of a paid response with the essay in them, and bodies without one. The rules know none of them. */

interface Case {
  id: string;
  kind: string;
  note?: string;
  status?: number;
  body: unknown;
  /** The essay, or all forms of it that are right. */
  text?: string | string[];
  expectCode?: string;
  /** Index of the order. */
  order: number;
}

interface Cases {
  orders: { description: string; wordCount: number }[];
  success: Case[];
  failure: Case[];
  texts: Record<string, string>;
}

const { orders, success, failure, texts }: Cases = JSON.parse(
  readFileSync(new URL('../../../data/essay-cases.json', import.meta.url), 'utf8'),
);

/** With the texts in place of their names. A text within a body that is a text of JSON is escaped as often as that body. */
function fill(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\{\{(t\d+)\}\}/g, (_, name: string) => texts[name] ?? '');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fill);
  if ('$numbersBelow' in value) return Array.from({ length: Number(value.$numbersBelow) }, (_, index) => index);
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, fill(child)]));
}

function bodyOf({ body }: Case): string {
  if (typeof body !== 'string') return JSON.stringify(fill(body));
  const escapes = [/^\s*"/, /^\s*(?:"|\{"|data:)/].filter((start) => start.test(body)).length;
  return body.replaceAll(/\{\{(t\d+)\}\}/g, (_, name: string) => {
    let text = texts[name] ?? '';
    for (let count = 0; count < escapes; count += 1) text = JSON.stringify(text).slice(1, -1);
    return text;
  });
}

function read(
  example: Case,
  declared: DeclaredFields = { texts: null, error: null },
  ordered = orders[example.order] ?? order,
) {
  const text = bodyOf(example);
  const answer = { status: example.status ?? 200, text, json: parseJson(text) };
  return readEssay(answer, ordered, ordered.description, declared);
}

/** What generateEssay returns. */
async function generate(example: Case) {
  const ignore = () => {};
  const essays = createRestEssays({
    client: tOrders(received(example.status ?? 200, bodyOf(example))),
    modeNames,
    declared: { texts: null, error: null },
    keepMs: 1_000,
    redact: (text) => text,
    events: {
      credentialsRejected: ignore,
      callRefused: ignore,
      requestRejected: ignore,
      responseUnreadable: ignore,
    },
  });
  return sendOrder(essays, { ...order, ...orders[example.order] }, tRequestContext());
}

const nameOf = ({ id, kind, note = '' }: Case) => `${id} ${kind}: ${note}`;

describe('a paid essay', () => {
  /** With the reason why the rules do not recognize it. */
  const misses: Record<string, string> = {
    s307: 'a text of 45 words has no word of its description, as a message to a customer has none',
  };

  it('is delivered, but for the named misses', () => {
    const missed = success.filter((example) => {
      const found = read(example);
      return found === null || ![fill(example.text)].flat().includes(found.text);
    });
    expect(missed.map(nameOf)).toEqual(success.filter(({ id }) => id in misses).map(nameOf));
    expect(success).toHaveLength(180);
  });

  it('is delivered unaltered if the fields are declared where it was found', () => {
    const altered = success.filter((example) => {
      const found = read(example);
      const declared = found && read(example, { texts: found.paths, error: null });
      // A page that is the whole body is not altered.
      return declared !== null && ![fill(example.text), bodyOf(example)].flat().includes(declared.text);
    });
    expect(altered.map(nameOf)).toEqual([]);
  });
});

describe('a body without an essay', () => {
  it('is not delivered as one', async () => {
    const sold: string[] = [];
    for (const example of failure) if ((await generate(example)).kind === 'essay') sold.push(nameOf(example));
    expect(sold).toEqual([]);
    expect(failure).toHaveLength(213);
  });

  /** Refusals whose wording the rules do not know. They are failures that cannot be read. */
  const unknownWordings: Record<string, string> = {
    f087: 'a letter about packages, without the usual words',
    f089: 'a letter about packages, without the usual words',
    f207: 'German',
  };

  it('is the failure that it names', async () => {
    const others: string[] = [];
    for (const example of failure.filter(({ expectCode }) => expectCode !== undefined)) {
      const result = await generate(example);
      const found = 'code' in result ? [result.code, 'EssayAllowanceExhausted'] : ['InvalidEssayInput'];
      if (!found.slice(0, result.kind === 'allowance-exhausted' ? 2 : 1).includes(example.expectCode ?? ''))
        others.push(nameOf(example));
    }
    expect(others).toEqual(failure.filter(({ id }) => id in unknownWordings).map(nameOf));
  });
});

describe('near misses', () => {
  const right = success
    .filter(({ body, status = 200 }) => status === 200 && typeof body === 'object' && !Array.isArray(body))
    .flatMap((example) => {
      const found = read(example);
      return found ? [{ example, body: fill(example.body) as object, text: found.text }] : [];
    });
  const readChanged = (example: Case, changed: object) => read({ ...example, body: changed })?.text ?? null;
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
    { traceback: 'Traceback (most recent call last): File "/srv/app/writer/views.py", line 88, in generate.' },
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
    { usage: { requests: 12, remaining: 88 }, warnings: [], prompt: 'Write an essay.' },
  ];

  it('have no essay if one sign of failure is added around a text that is shorter than ordered', () => {
    const short = right.filter(({ text }) => text.length < 3_000);
    expect(short.length).toBeGreaterThan(50);
    for (const { example, body } of short) {
      const { description } = orders[example.order] ?? order;
      for (const sign of signs) {
        const found = read({ ...example, body: { ...body, ...sign } }, undefined, { description, wordCount: 100_000 });
        expect([nameOf(example), sign, found]).toEqual([nameOf(example), sign, null]);
      }
    }
  });

  it('have the same essay beside any sign if it has two thirds of the ordered words, in a field for texts', () => {
    const { t8: text = '' } = texts;
    const words = text.split(/\s+/).length;
    const readBeside = (sign: object, name: string, part: number) => {
      const ordered = { description: orders[0]?.description ?? '', wordCount: Math.floor(words / part) };
      return read({ id: '', kind: '', order: 0, body: { ...sign, [name]: text } }, undefined, ordered)?.text ?? null;
    };
    for (const sign of signs) {
      for (const name of ['essay', 'text', 'output']) expect(readBeside(sign, name, 0.68)).toBe(text);
      expect(readBeside(sign, 'x_field', 0.68)).toBeNull();
      expect(readBeside(sign, 'essay', 0.65)).toBeNull();
    }
  });

  it('have the same essay if the sign is in a field beside it, or fields are added that are unknown or say that all is well', () => {
    const values = [7, true, null, 'en', '2026-11-25', 'a81f-22', 'claude', 0.5, ['pens', 'ink'], { total: 5 }, ''];
    const beside = signs.map((sign) => ({ plagiarism: sign, x_job: { state: sign } }));
    const unknown = values.map((value, index) => ({
      [`x_${index}`]: value,
      [`x_a${index}`]: values[index - 1] ?? 'x',
    }));
    for (const { example, body, text } of right.filter(({ text }) => text.length < 3_000)) {
      for (const added of [...beside, ...signsOfSuccess, ...unknown]) {
        for (const changed of [
          { ...added, ...body },
          { ...body, ...added, ...body },
        ]) {
          expect([nameOf(example), added, readChanged(example, changed)]).toEqual([nameOf(example), added, text]);
        }
      }
    }
  });
});
