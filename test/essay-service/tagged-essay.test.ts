import { describe, expect, it } from 'vitest';
import { createShownEssay, cutToLimit } from '../../src/essay-service/llm/llm-writer.ts';
import { createRandom, type Random } from '../support/e2e/random.ts';
import { readPieces, toStream } from '../support/essay-service/deliver.ts';
import { essay, rows, thought, unchanged } from '../support/essay-service/model-outputs.ts';

/** A paragraph with what is near a marker or the end of a sentence without being one. */
const paragraph =
  'Bees (and wasps) fly at 3.5 m a day, says Dr. Ink in “City Bees” [1]. They don’t stop: “Why?” asks nobody & no one. ' +
  '蜜蜂在城市里飞。它们睡觉。 It costs a < b, or 5 ~ 6. - Not an item. Wait… they sleep (see above). And so on.';
const list = '- Bees fly.\n- They sleep, too\n- 3. They eat';
const prose = ['City Bees', paragraph, list, paragraph, paragraph].join('\n\n');

interface Shown {
  /** What was shown, part by part. */
  parts: string[];
  /** The finished essay, or a failure. */
  final: string;
}

/** Reads what a model writes, in the given pieces. */
async function show(pieces: readonly string[], { wordCount = 2_000, finish = 'stop' } = {}): Promise<Shown> {
  const parts: string[] = [];
  const onCleaned = createShownEssay(wordCount, (part) => parts.push(part));
  const outcome = await readPieces([toStream(pieces, { finish })], { enoughWords: wordCount + 20, onCleaned });
  if ('failure' in outcome) return { parts, final: outcome.failure };
  try {
    return { parts, final: cutToLimit(outcome, wordCount) };
  } catch (error) {
    return { parts, final: String(error) };
  }
}

/** In pieces of up to so many characters, which may split characters and markers. */
function cut(text: string, random: Random, largest: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(text.slice(at, at + 1 + random(largest - 1)));
  }
  return pieces;
}

/** In short pieces or in long ones. */
function cutRandomly(text: string, seed: number): string[] {
  const random = createRandom(seed);
  return cut(text, random, [4, 25, 150][random(2)] ?? 1);
}

function expectPrefix({ parts, final }: Shown): void {
  const text = parts.join('');
  if (!final.startsWith('WritingError')) expect(final.slice(0, text.length)).toBe(text);
  expect(text).not.toContain('zzsecret');
  for (const part of parts) expect(part.trim()).not.toBe('');
}

const withEssay = rows.filter(([, output, expected]) => expected === essay && output.split(essay).length === 2);

/** Reasoning in these brackets is only before all text. */
const onlyFirst = /^[[({【⟨‹]{1,2}\s?(?!THINK\]|BEGIN|思考|\|)\p{L}/u;

describe('an essay between tags', () => {
  it.each(withEssay)('is shown while it is written, without anything else: %s', async (_, output) => {
    for (const end of ['</essay>\nzzsecret', '']) {
      // A fence around all ends after the essay; so may a tag of another name.
      if (end === '' && /`{3}|~{3}|<\/(?:answer|response)>/.test(output)) continue;
      const tagged = output.replace(essay, () => `<essay>\n${prose}${end}`);
      const pieces = cutRandomly(tagged, output.length);
      const shown = await show(pieces);
      expectPrefix(shown);
      expect(shown.final).toBe(prose);
      if (pieces.length > 100) expect(shown.parts.length).toBeGreaterThan(0);
    }
  });

  it.each(unchanged)('may contain what looks like a marker: %s', async (_, text) => {
    const whole = `${prose}\n\n${text}\n\n${prose}`;
    const shown = await show(cutRandomly(`<essay>${whole}</essay>`, text.length));
    expectPrefix(shown);
    expect(shown.final).toBe(whole);
  });

  const opened = rows.filter(([, output]) => !/^[^<[({【⟨‹◁＜&`~]*zzsecret/.test(output) && !onlyFirst.test(output));
  it.each(opened)('is not shown further than a marker in it: %s', async (_, output) => {
    const written = `<essay>${prose}\n${output}\n\n${prose}</essay>`;
    expectPrefix(await show(cutRandomly(written, output.length)));
  });

  it('is shown up to the word limit, and as it is when the model is cut off', async () => {
    const random = createRandom(7);
    const outputs = [`<essay>${prose}</essay>`, `<think>${thought}</think>\n<essay>${prose}`, `<essay>\n${paragraph}`];
    for (let round = 0; round < 100; round += 1) {
      const output = outputs[round % outputs.length] ?? '';
      const written = output.slice(0, random(output.length));
      const finish = random(1) === 0 ? 'stop' : 'length';
      const shown = await show(cut(written, random, 1 + random(60)), { wordCount: 1 + random(250), finish });
      expectPrefix(shown);
    }
  });
});

describe('an answer without the tag', () => {
  it.each(rows)('is not shown, and is cleaned as always: %s', async (_, output, expected) => {
    const { parts, final } = await show(cutRandomly(output, output.length));
    expect(parts).toEqual([]);
    if (expected !== null) expect(final).toBe(expected);
    else expect(final).toMatch(/^WritingError/);
  });
});

describe('the tag', () => {
  it.each([
    ['in a thought that is not closed', `<think>I write <essay>zzsecret. ${paragraph}`],
    ['in a thought whose opening tag is in the prompt', `zzsecret: <essay> is first. ${paragraph.repeat(5)}</think>`],
    ['in another channel', `<|channel|>analysis<|message|><essay>zzsecret. ${paragraph.repeat(5)}`],
  ])('does not begin an essay %s', async (_, written) => {
    expect((await show(cutRandomly(written, 3))).parts).toEqual([]);
  });

  it('begins the essay after reasoning that mentions it', async () => {
    const written = `zzsecret: <essay> is first, then </essay>.\n</think>\n<essay>\n${prose}\n</essay>`;
    const shown = await show(cutRandomly(written, 5));
    expectPrefix(shown);
    expect(shown.final).toBe(prose);
  });

  it.each([
    ['a preface', `Sure! Here is it:\n\n<essay>\n${essay}\n</essay>\nI hope it helps.`],
    ['a preface in its line', `Sure: <essay>${essay}`],
  ])('is removed after %s', async (_, written) => {
    expect(await show(cutRandomly(written, 9))).toEqual({ parts: [], final: essay });
  });

  it('is found after reasoning that mentions it often', async () => {
    const written = `<think>${'zzsecret <essay> '.repeat(30)}</think><essay>${prose}</essay>`;
    const shown = await show(cutRandomly(written, 9));
    expectPrefix(shown);
    expect(shown.final).toBe(prose);
    expect(shown.parts.length).toBeGreaterThan(0);
  });
});
