import { pause } from '../../base/async/pause.ts';
import { countWords, findWordLimit } from '../../base/words.ts';
import { cutAtSentenceEnd, splitSentences } from '../sentences.ts';
import type { Writer, WritingMode } from '../writing-order.ts';
import { combinations, endings, modeTemplates, pointSentences, questions, readers } from './templates.ts';

/**
 * Writes without a language model: arranges the sentences and lists of the description as a topic and its points, and says how to develop
 * them. It states no facts of its own, and says in its last line what it is. The same order results in the same draft.
 * @param wordDelayMs how long it waits before each word, like a slow service
 */
export function createDraftingWriter({ wordDelayMs = 0 } = {}): Writer {
  return {
    kind: 'drafter',
    write: async ({ description, mode, wordCount }, signal, onText) => {
      signal.throwIfAborted();
      const draft = cutAtSentenceEnd(composeDraft(description, mode, wordCount), wordCount);
      for (const part of draft.split(wordDelayMs > 0 ? /(?<=\s)(?=\S)/ : /(?=\n\n)/)) {
        if (wordDelayMs > 0) await pause(wordDelayMs, signal);
        onText?.(part);
      }
      return draft;
    },
  };
}

/** With the most points for which there is room; the shortest drafts have no title, and then only the topic. */
function composeDraft(description: string, mode: WritingMode, wordCount: number): string {
  const { topic, points } = readDescription(description);
  const ending = endings.find((text) => countWords(text) * 8 <= wordCount) ?? endings.at(-1) ?? '';
  const title = capitalize(shorten(topic, maxTitleWords));
  for (let count = Math.min(points.length, Math.ceil(wordCount / wordsPerPoint)); count >= -1; count -= 1) {
    const included = points.slice(0, Math.max(0, count));
    const sections = outline(topic, included, mode);
    const head = count < 0 ? [] : [title];
    const room = wordCount - countWords([...head, ...sections.flat(), ending].join(' '));
    if (room < 0) continue;
    fill(sections, listCandidates(topic, included, mode), room);
    return [...head, ...sections.flatMap(toParagraphs), ending].join('\n\n');
  }
  const sentence = toSentence(topic);
  return countWords(`${sentence} ${ending}`) <= wordCount ? `${sentence}\n\n${ending}` : sentence;
}

const maxTitleWords = 14;
const wordsPerPoint = 25;

/**
 * The first sentence, or what is before its colon, is the topic. The list after the colon and all further sentences and lines are points,
 * without repetitions.
 */
function readDescription(description: string): { topic: string; points: string[] } {
  const plain = description.replaceAll(/[^\P{Cc}\n]|[\u200b\ufeff]/gu, ' ');
  const [first = plain.trim(), ...others] = plain
    .split('\n')
    .flatMap((line) => splitSentences(line.replace(listMark, '')));
  const [, head = first, list = ''] = /^([^:：]{3,200}?)\s*(?::\s+|：)(\S.*)$/su.exec(first) ?? [];
  const listed = list.split(/[;；]/.test(list) ? /[;；]/ : /[,，、](?:\s+and\s)?|\s+and\s+/);
  const topic = trimMarks(head) || head;
  const seen = new Set(['', topic.toLowerCase()]);
  const points = [...listed.map(trimMarks), ...others].filter((point) => {
    const name = trimMarks(point).toLowerCase();
    return !seen.has(name) && seen.add(name);
  });
  return { topic, points };
}

const listMark = /^\s*(?:[-*•·–—]|#{1,6}|\(?\d{1,3}[.)])\s+/;

/** Introduction, points and conclusion, with the sentences that they need. A draft without points has one section for the topic. */
function outline(topic: string, points: readonly string[], mode: WritingMode): string[][] {
  const { lead, point } = modeTemplates[mode];
  const body = points.map((text) => [introduce(point, text)]);
  return [[introduce(lead, topic)], ...(body.length > 0 ? body : [[]]), []];
}

/** A text after a colon, where any phrase or sentence fits. */
function introduce(template: string, text: string): string {
  return toSentence(template.replace('{text}', () => text));
}

interface Candidate {
  /** The index of its section. */
  section: number;
  text: string;
}

/** The further sentences, the most important first. Few orders need all of them. */
function* listCandidates(topic: string, points: readonly string[], mode: WritingMode): Generator<Candidate> {
  const { develop, conclusion } = modeTemplates[mode];
  const names = (points.length > 0 ? points : [topic]).map(quote);
  const last = names.length + 1;
  /** Each sentence for each point, in turn: so neighbors begin differently. */
  const perPoint = (round: number, templates: readonly string[]): Candidate[] =>
    names.map((point, index) => {
      const template = templates[(round + index) % templates.length] ?? '';
      return { section: index + 1, text: fillSlots(template, { point, topic: quote(topic) }) };
    });

  if (points.length > 1) yield { section: 0, text: `These are its points: ${names.join(', ')}.` };
  yield { section: last, text: fillSlots(conclusion, { topic: quote(topic) }) };
  yield* perPoint(0, [develop]);
  for (const round of pointSentences.keys()) yield* perPoint(round, pointSentences);
  const combined = combine();
  for (const round of combined.keys()) yield* perPoint(round, combined);
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

/** Adds each sentence for which there is room, once. */
function fill(sections: readonly string[][], candidates: Iterable<Candidate>, room: number): void {
  let left = room;
  const added = new Set<string>();
  for (const { section, text } of candidates) {
    // No sentence is shorter.
    if (left < minWords) return;
    const words = countWords(text);
    if (words > left || added.has(text)) continue;
    added.add(text);
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

/** Adds a capital at the start and, if there is no other mark, a full stop at the end. */
function toSentence(text: string): string {
  const trimmed = text.trim().replace(/[\s,;:\-–—]+$/u, '');
  return capitalize(/[.!?…。！？؟।]["'”’»)\]]*$/u.test(trimmed) ? trimmed : `${trimmed}.`);
}

/** A name of a few words in quotation marks, which may be at any place of a sentence. */
function quote(text: string): string {
  return `“${shorten(trimMarks(text).replaceAll(/["“”„«»]/g, ''), 6)}”`;
}

function shorten(text: string, words: number): string {
  const end = findWordLimit(text, words);
  return end < text.length ? `${text.slice(0, end).replace(/[\s\p{P}]+$/u, '')}…` : text;
}

function trimMarks(text: string): string {
  return text.replaceAll(/^[\s,;:.…。，、：\-–—•*|]+|[\s,;:.…。，、：\-–—•*|]+$/gu, '');
}

/** Unless the word has a capital of its own, as in iPhone. */
function capitalize(text: string): string {
  return text.replace(
    /^(["'“‘(¿¡]*)(\p{Ll})(?!\p{Ll}*\p{Lu})/u,
    (_, marks: string, letter: string) => marks + letter.toUpperCase(),
  );
}
