import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countWords } from '../../src/base/words.ts';
import { createLlmWriter } from '../../src/essay-service/llm/llm-writer.ts';
import { type ChatScript, tChatServer } from '../support/chat-server.ts';

/* The answers of models in test/data, through the writer and a server of their own. */

interface ModelAnswer {
  kind: string;
  note: string;
  tagged: boolean;
  words: number;
  finish: string;
  expect: 'E' | 'cut' | 'fail';
  message: { content?: unknown };
  essay: string;
}

const { texts, models }: { texts: Record<string, string>; models: ModelAnswer[] } = JSON.parse(
  readFileSync(new URL('../data/model-answers.json', import.meta.url), 'utf8'),
);
const cases: ModelAnswer[] = models.map((answer) => JSON.parse(fill(JSON.stringify(answer))));

/** `{{t1}}` is a text, which may contain others. */
function fill(json: string): string {
  const filled = json.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => JSON.stringify(texts[name]).slice(1, -1));
  return filled === json ? json : fill(filled);
}

const toBody = (value: object, contentType = 'application/json'): ChatScript => {
  return { kind: 'body', contentType, body: JSON.stringify(value) };
};

function toStream({ message, finish }: ModelAnswer, toPieces: (text: string) => string[]): ChatScript {
  const { content, ...fields } = message;
  const pieces = typeof content === 'string' ? toPieces(content) : [content];
  const deltas = [{ role: 'assistant', ...fields }, ...pieces.map((piece) => ({ content: piece }))];
  const choices = [...deltas.map((delta) => ({ index: 0, delta })), { index: 0, delta: {}, finish_reason: finish }];
  const events = choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  return { kind: 'body', contentType: 'text/event-stream', body: `${events.join('')}data: [DONE]\n\n` };
}

const inPieces = (text: string) => text.match(/[\s\S]{1,17}/g) ?? [];
/** Short pieces at first, then longer ones: in all, they have many times the length of the text. */
function repeatingAll(text: string): string[] {
  const pieces: string[] = [];
  for (let end = 17; pieces.at(-1) !== text; end += end < 250 ? 17 : 170) pieces.push(text.slice(0, end));
  return pieces;
}

const ways: [string, (answer: ModelAnswer) => ChatScript][] = [
  ['whole', ({ message, finish }) => toBody({ choices: [{ index: 0, message, finish_reason: finish }] })],
  ['as a stream', (answer) => toStream(answer, inPieces)],
  ['as a stream whose deltas repeat all text', (answer) => toStream(answer, repeatingAll)],
];

/** Whether a result is what the case expects. */
function isRight({ expect: expected, essay, words }: ModelAnswer, result: string): boolean {
  if (expected === 'fail') return result.startsWith('WritingError');
  if (expected === 'E') return result === essay;
  // Thai has no marks at the end of sentences.
  const kept = result.replace(/…$/, '');
  const isWhole = countWords(essay.slice(kept.length)) + countWords(kept) === countWords(essay);
  return essay.startsWith(kept) && isWhole && countWords(result) <= words && countWords(result) * 2 > words;
}

const description =
  'Fountain pens: the reservoir that holds the ink, the feed that regulates it, and the nib that writes with a line of its own';

/** The prompt asks for plain text between tags; without the tags, the notation of JSON or HTML is not converted. */
const known = ['json, JSON, without the tag', 'json, HTML, without the tag'];

describe('the answer of a model is read right', () => {
  it.each(ways)('%s', async (_, toScript) => {
    const scripts = cases.map(toScript) as [ChatScript, ...ChatScript[]];
    const { url } = await tChatServer(...scripts);
    const writer = createLlmWriter({ url, apiKey: null, model: 'llama', timeoutMs: 60_000 });
    const misses: string[] = [];
    for (const answer of cases) {
      const order = { description, mode: 'Standard', wordCount: answer.words } as const;
      let shown = '';
      const onText = (part: string) => {
        shown += part;
      };
      const result = await writer.write(order, new AbortController().signal, onText).catch(String);
      if (!result.startsWith('WritingError')) expect(result.startsWith(shown)).toBe(true);
      if (!isRight(answer, result))
        misses.push(`${answer.kind}, ${answer.note}${answer.tagged ? '' : ', without the tag'}`);
    }
    expect(cases.length).toBe(230);
    expect(misses).toEqual(known);
  });
});
