import { pause } from '../base/async/pause.ts';
import { countWords, findWordLimit } from '../base/words.ts';
import { cutAtSentenceEnd, splitSentences } from './sentences.ts';
import type { Writer, WritingMode } from './writing-order.ts';

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

/** With the most points for which there is room; the shortest drafts have only the topic. */
function composeDraft(description: string, mode: WritingMode, wordCount: number): string {
  const { topic, points } = readDescription(description);
  const ending = endings.find((text) => countWords(text) * 8 <= wordCount) ?? endings.at(-1) ?? '';
  const title = capitalize(shorten(topic, maxTitleWords));
  for (let count = Math.min(points.length, Math.ceil(wordCount / wordsPerPoint)); count >= 0; count -= 1) {
    const included = points.slice(0, count);
    const { lead, point } = modes[mode];
    // A draft without points has one section for the topic.
    const body = count === 0 ? [[]] : included.map((text) => [introduce(point, text)]);
    const sections = [[introduce(lead, topic)], ...body, []];
    const room = wordCount - countWords([title, ...sections.flat(), ending].join(' '));
    if (room < 0) continue;
    fill(sections, listFurther(topic, included, mode), room);
    return [title, ...sections.flatMap(toParagraphs), ending].join('\n\n');
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

/** A text after a colon, where any phrase or sentence fits. */
function introduce(template: string, text: string): string {
  return toSentence(template.replace('{text}', () => text));
}

/** A further sentence, with the index of its section. */
type Further = readonly [section: number, text: string];

/** The most important first. Few orders need all of them. */
function* listFurther(topic: string, points: readonly string[], mode: WritingMode): Generator<Further> {
  const names = (points.length > 0 ? points : [topic]).map(quote);
  const slots = { topic: quote(topic) };
  if (points.length > 1) yield [0, `These are its points: ${names.join(', ')}.`];
  yield [names.length + 1, fillSlots(modes[mode].conclusion, slots)];
  // Each sentence for each point, in turn: so neighbors begin differently.
  for (const round of pointSentences.keys())
    for (const [index, point] of names.entries()) {
      yield [index + 1, fillSlots(pick(pointSentences, round + index), { ...slots, point })];
    }
}

function pick(texts: readonly string[], index: number): string {
  return texts[index % texts.length] ?? '';
}

function fillSlots(template: string, slots: Readonly<Record<string, string>>): string {
  return capitalize(template.replaceAll(/\{(\w+)\}/g, (slot, name: string) => slots[name] ?? slot));
}

/** Adds each sentence for which there is room, once. */
function fill(sections: readonly string[][], candidates: Iterable<Further>, room: number): void {
  let left = room;
  const added = new Set<string>();
  for (const [section, text] of candidates) {
    if (left < minWords) return;
    const words = countWords(text);
    if (words > left || added.has(text)) continue;
    added.add(text);
    sections[section]?.push(text);
    left -= words;
  }
}

/** No further sentence is shorter. */
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
  return text.replace(/^(["'“‘(¿¡]*)(\p{Ll})(?!\p{Ll}*\p{Lu})/u, (_, marks, letter) => marks + letter.toUpperCase());
}

/*
 * The sentences say how to develop the points of the description, and state no facts about them. A slot has a name in quotation marks, or
 * a text after a colon, so that any phrase in any language fits: {topic}, {point}.
 */

const modes: Readonly<Record<WritingMode, Readonly<Record<'lead' | 'point' | 'conclusion', string>>>> = {
  Standard: {
    lead: 'This essay has the following subject: {text}',
    point: 'A point to cover is this: {text}',
    conclusion: 'Taken together, the points give a fuller view of {topic} than any one of them alone.',
  },
  Academic: {
    lead: 'This paper examines the following subject: {text}',
    point: 'An aspect to be examined is the following: {text}',
    conclusion: 'In conclusion, {topic} has to be judged in the light of all the aspects above.',
  },
  Professional: {
    lead: 'This brief covers the following subject: {text}',
    point: 'An item to settle: {text}',
    conclusion: 'In summary, a decision on {topic} has to answer each of the items above.',
  },
  Journalistic: {
    lead: 'At the centre of this report: {text}',
    point: 'Also at issue: {text}',
    conclusion: 'What comes next for {topic} is the question to watch.',
  },
  Detailed: {
    lead: 'This essay treats the following subject in detail: {text}',
    point: 'This point deserves a close look: {text}',
    conclusion: 'Seen in detail, {topic} is the sum of the points above and of the links between them.',
  },
};

const readers = ['a beginner', 'an expert', 'a critic', 'someone who has to decide', 'someone who has to pay for it'];
const questions = [
  'which words need an explanation',
  'what is certain and what is not',
  'which example is typical',
  'what the causes may be',
  'what the consequences may be',
  'what it costs and what it brings',
  'which objection is the strongest',
];

const combinations = [
  'On {point}, the text should tell {reader} {question}.',
  'For {reader}, the text on {point} has to say {question}.',
  'One sentence about {point} can say, with {reader} in mind, {question}.',
  'As to {point}, {reader} will want to know {question}.',
];

/** For each point; neighbors differ in all parts, as the lengths of the lists have no common factor. They are enough for the longest order of one point. */
const pointSentences = [
  'The first step is to say in plain words what {point} means here.',
  'What matters is how {point} bears on {topic}, and for whom.',
  'A single clear example of {point} would do more than a list of general remarks.',
  'It helps to keep apart what is known about {point} and what is only supposed.',
  'More could be said about {point}.',
  ...Array.from({ length: readers.length * questions.length * combinations.length }, (_, index) =>
    pick(combinations, index).replace('{reader}', pick(readers, index)).replace('{question}', pick(questions, index)),
  ),
];

const endings = [
  'This text is a draft made without a language model: it arranges the description and adds no facts.',
  'This is a draft made without a language model.',
  'Draft made without a language model.',
];
