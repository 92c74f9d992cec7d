import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { parseJson } from '../../../../src/base/parse-json.ts';
import { type DeclaredFields, readEssay } from '../../../../src/gateway/essays/rest/read-essay.ts';
import { createRestEssays } from '../../../../src/gateway/essays/rest/rest-essays.ts';
import { order } from '../../../support/gateway/essays/generator.ts';
import { tOrders } from '../../../support/gateway/upstream/send.ts';
import { tRequestContext } from '../../../support/request-context.ts';

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

function read(example: Case, declared: DeclaredFields = { texts: null, error: null }) {
  const text = bodyOf(example);
  const ordered = orders[example.order] ?? order;
  const answer = { status: example.status ?? 200, text, json: parseJson(text) };
  return readEssay(answer, ordered, ordered.description, declared);
}

/** What generateEssay returns. */
async function generate(example: Case) {
  const text = bodyOf(example);
  const ignore = () => {};
  const { send } = createRestEssays({
    client: tOrders({
      ...{ kind: 'answered', status: example.status ?? 200, headers: {}, retryAt: null },
      ...{ text, json: parseJson(text), value: null, fault: null },
    }),
    modeNames: {
      STANDARD: 'Standard',
      ACADEMIC: 'Academic',
      PROFESSIONAL: 'Professional',
      NEWS_REPORT: 'News',
      DETAILED: 'Detailed',
    },
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
  const hooks = { maySend: async () => true, beforeAttempt: vi.fn() };
  return send({ ...order, ...orders[example.order] }, tRequestContext(), hooks);
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
