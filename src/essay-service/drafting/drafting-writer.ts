import { pause } from '../../base/async/pause.ts';
import { countWords } from '../../base/words.ts';
import { cutAtSentenceEnd } from '../sentences.ts';
import type { Writer, WritingMode } from '../writing-order.ts';
import { type Brief, capitalize, type Point, quote, readBrief, toSentence } from './brief.ts';
import {
  combinations,
  endings,
  modeTemplates,
  pointSentences,
  purposeTemplates,
  questions,
  readers,
  sharedSentences,
} from './templates.ts';

/**
 * Writes without a language model: arranges the topic and the points of the description, and says how to develop them. It states no
 * facts of its own, and says in its last line what it is. The same order results in the same draft.
 * @param wordDelayMs how long it waits before each word, like a slow service
 */
export function createDraftingWriter({ wordDelayMs = 0 } = {}): Writer {
  return {
    kind: 'drafter',
    write: async ({ description, mode, wordCount }, signal, onText) => {
      signal.throwIfAborted();
      const draft = cutAtSentenceEnd(composeDraft(readBrief(description), mode, wordCount), wordCount);
      for (const part of draft.split(wordDelayMs > 0 ? /(?<=\s)(?=\S)/ : /(?=\n\n)/)) {
        if (wordDelayMs > 0) await pause(wordDelayMs, signal);
        onText?.(part);
      }
      return draft;
    },
  };
}

/** With the most points for which there is room; the shortest drafts have no title, and then only the topic. */
function composeDraft(brief: Brief, mode: WritingMode, wordCount: number): string {
  const ending = endings.find((text) => countWords(text) * 8 <= wordCount) ?? endings.at(-1) ?? '';
  const most = Math.min(brief.points.length, Math.ceil(wordCount / wordsPerPoint));
  for (let count = most; count >= -1; count -= 1) {
    const points = brief.points.slice(0, Math.max(0, count));
    const sections = outline(brief.topic, points, mode);
    const head = count < 0 ? [] : [brief.title];
    const room = wordCount - countWords([...head, ...sections.flat(), ending].join(' '));
    if (room < 0) continue;
    fill(sections, listCandidates(brief, points, mode), room);
    return [...head, ...sections.flatMap(toParagraphs), ending].join('\n\n');
  }
  const topic = toSentence(brief.topic);
  return countWords(`${topic} ${ending}`) <= wordCount ? `${topic}\n\n${ending}` : topic;
}

const wordsPerPoint = 25;

/** Introduction, points and conclusion, with the sentences that they need. A draft without points has one section for the topic. */
function outline(topic: string, points: readonly Point[], mode: WritingMode): string[][] {
  const { lead, point: openings } = modeTemplates[mode];
  const opening = (index: number) => {
    if (index === points.length - 1) return openings.at(-1);
    return openings[index === 0 ? 0 : 1 + (index % (openings.length - 2))];
  };
  const body = points.map(({ text }, index) => [introduce(points.length > 1 ? opening(index) : openings[0], text)]);
  return [[introduce(lead, topic)], ...(body.length > 0 ? body : [[]]), []];
}

/** A text after a colon, where any phrase or sentence fits. */
function introduce(template = '', text: string): string {
  return toSentence(template.replace('{text}', () => text));
}

interface Candidate {
  /** The index of its section. */
  section: number;
  text: string;
}

/** The further sentences, the most important first. Few orders need all of them. */
function* listCandidates({ topic, purpose }: Brief, points: readonly Point[], mode: WritingMode): Generator<Candidate> {
  const { develop, conclusion } = modeTemplates[mode];
  const aim = purpose ? purposeTemplates[purpose] : null;
  const names = (points.length > 0 ? points.map(({ text }) => text) : [topic]).map(quote);
  const last = names.length + 1;
  const topicName = quote(topic);
  /** Each sentence for each point, in turn: so neighbors begin differently. */
  const perPoint = (_: string, round: number, templates: readonly string[]): Candidate[] =>
    names.flatMap((point, index) => {
      const template = templates[(round + index) % templates.length] ?? '';
      const other = names[(index + 1) % names.length] ?? '';
      if (other === point && template.includes('{other}')) return [];
      return { section: index + 1, text: fillSlots(template, { point, other, topic: topicName }) };
    });
  const inSection = (section: number, text = ''): Candidate[] =>
    text === '' ? [] : [{ section, text: fillSlots(text, { topic: topicName }) }];

  yield* points.flatMap(({ details }, index) => details.map((text) => ({ section: index + 1, text })));
  yield* inSection(0, points.length > 1 ? `These are its points: ${names.join(', ')}.` : '');
  yield* inSection(last, conclusion);
  yield* inSection(0, aim?.introduction);
  yield* [develop, ...(aim ? [aim.develop] : [])].flatMap(perPoint);
  yield* inSection(last, aim?.conclusion);
  yield* pointSentences.flatMap(perPoint);
  yield* sharedSentences.map((text, index) => ({ section: 1 + (index % names.length), text }));
  const combined = combine();
  for (const [round, template] of combined.entries()) yield* perPoint(template, round, combined);
}

/** Each question for each reader, in an order in which neighbors differ in both. */
function combine(): string[] {
  return questions.flatMap((_, round) =>
    readers.map((reader, index) => {
      const template = combinations[(index + round) % combinations.length] ?? '';
      return fillSlots(template, { reader, question: questions[(index + round) % questions.length] ?? '' });
    }),
  );
}

/** A slot without a text stays. */
function fillSlots(template: string, slots: Readonly<Record<string, string>>): string {
  return capitalize(template.replaceAll(/\{(\w+)\}/g, (slot, name: string) => slots[name] ?? slot));
}

/** Adds each sentence for which there is room. */
function fill(sections: readonly string[][], candidates: Iterable<Candidate>, room: number): void {
  let left = room;
  for (const { section, text } of candidates) {
    // No sentence is shorter.
    if (left < minWords) return;
    const words = countWords(text);
    if (words > left) continue;
    sections[section]?.push(text);
    left -= words;
  }
}

const minWords = 4;

function toParagraphs(sentences: readonly string[]): string[] {
  const count = Math.ceil(sentences.length / sentencesPerParagraph);
  const size = Math.ceil(sentences.length / count);
  return Array.from({ length: count }, (_, index) => sentences.slice(index * size, (index + 1) * size).join(' '));
}

const sentencesPerParagraph = 6;
