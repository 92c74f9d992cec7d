import { describe, expect, it } from 'vitest';
import { essaysKey, tScriptedGateway } from '../../support/gateway.ts';
import { replyJson } from '../../support/scripted-upstream.ts';

const mutation = `mutation ($input: GenerateEssayInput!) { generateEssay(input: $input) {
  __typename
  ... on Essay { text wordCount mode }
  ... on UserError { message }
  ... on InvalidEssayInput { fields { name message } }
  ... on EssayServiceFailed { code rawText }
} }`;

const input = { description: 'The fountain pen: its reservoir and its feed', mode: 'ACADEMIC', wordCount: 120 };
const text =
  'On Pens\n\nA pen holds ink. It also holds thoughts, and keeps them. Its reservoir is what made it independent of the inkwell, ' +
  'and its feed lets air in while ink goes out. So a line has the same width from its beginning to its end.';

/** The format of the project's own service is known, that of another one is not. */
const hosted = { ESSAY_URL: 'http://essays.example', ESSAY_API_KEY: essaysKey };

describe('generateEssay', () => {
  it('sends the order in the service’s documented format, with the key in a header', async () => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { essay: text }));
    await ask(mutation, { input });
    const [call] = upstream.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/v2/generate/essay/' });
    expect(call?.headers).toMatchObject({ token: essaysKey, 'content-type': 'application/json' });
    expect(JSON.parse(call?.body ?? '')).toEqual({
      description: input.description,
      mode: 'Academic',
      word_count: 120,
    });
  });

  const titles = ['Ink and Thought', 'The Patient Pen'];
  const description = `${input.description}\n\nWriting purpose: argumentative.\n\nTitle options: ${titles.join(', ')}.`;

  it.each<[object, object, Record<string, string>?]>([
    [
      { purpose: 'ARGUMENTATIVE', titles },
      { description, mode: 'Academic', word_count: 120 },
    ],
    [{ mode: undefined }, { mode: 'Standard' }],
    [{ mode: 'STANDARD' }, { mode: 'Standard' }],
    [{ mode: 'PROFESSIONAL' }, { mode: 'Professional' }],
    [{ mode: 'NEWS_REPORT' }, { mode: 'Journalistic' }],
    [{ mode: 'NEWS_REPORT' }, { mode: 'News report' }, { ESSAY_MODES: 'NEWS_REPORT=News report' }],
    [{ mode: 'DETAILED' }, { mode: 'Detailed' }],
    [{ mode: 'DETAILED' }, { mode: 'detail' }, { ESSAY_MODES: 'ACADEMIC=a, DETAILED = detail' }],
    [
      { titles: ['Eats, Shoots and Leaves', 'The "Real", “Quoted” Pen', 'Pens'] },
      {
        description: `${input.description}\n\nTitle options: "Eats, Shoots and Leaves", «The "Real", “Quoted” Pen», Pens.`,
      },
    ],
    [{ wordCount: 1 }, { word_count: 1 }],
    [{ wordCount: 2_000 }, { word_count: 2_000 }],
  ])('sends %j as %j', async (fields, body, env = {}) => {
    const { ask, upstream } = await tScriptedGateway(replyJson(200, { essay: text }), env);
    const sent = { ...input, ...fields };
    const { data } = await ask(mutation, { input: sent });
    expect(JSON.parse(upstream.calls[0]?.body ?? '')).toMatchObject(body);
    expect(data?.generateEssay).toMatchObject({ __typename: 'Essay', mode: sent.mode ?? 'STANDARD' });
  });

  it('has the title of a text whose lines end with CR and LF', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, { essay: text.replaceAll('\n', '\r\n') }));
    const { data } = await ask(mutation.replace('wordCount mode', 'title'), { input });
    expect(data?.generateEssay).toMatchObject({ __typename: 'Essay', title: 'On Pens' });
  });

  it.each([{}, [], { essay: '' }, { error: 'Something long that is certainly no essay.' }, 42, null])(
    'does not accept %j as an essay, and returns it as rawText',
    async (body) => {
      const { ask } = await tScriptedGateway(replyJson(200, body));
      const { data } = await ask(mutation, { input });
      expect(data?.generateEssay).toMatchObject({
        __typename: 'EssayServiceFailed',
        code: 'UPSTREAM_FAILED',
        rawText: JSON.stringify(body),
      });
    },
  );

  it('finds the text in the configured text field, before well-known names', async () => {
    const env = { ...hosted, ESSAY_TEXT_FIELD: 'parts.0.draft' };
    const { ask } = await tScriptedGateway(replyJson(201, { essay: 'a summary', parts: [{ draft: text }] }), env);
    const { data } = await ask(mutation, { input });
    expect(data?.generateEssay).toEqual({ __typename: 'Essay', text, wordCount: 46, mode: 'ACADEMIC' });
  });
});
