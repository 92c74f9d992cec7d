import { type EssayPurpose, readPurposeAndTitles } from '../purpose-and-titles.ts';
import { countWords, cutAtSentenceEnd, splitSentences } from '../words.ts';
import { joinList } from './fill-template.ts';
import { looksEnglish } from './language.ts';
import { type Phrase, readPhrase, toSentence } from './phrase.ts';
import { toPlainText } from './plain-text.ts';
import { splitList, splitTopicAndList } from './point-list.ts';
import { groupPoints, type Point, readListItem } from './points.ts';
import { isInstruction, readPointsRequest, stripRequest } from './requests.ts';

/** The content of a description. */
export interface Brief {
  topic: Phrase;
  points: Point[];
  purpose: EssayPurpose | null;
  titles: string[];
  isEnglish: boolean;
}

/** Reads a description. Its content is not reworded; instructions to the writer are removed. */
export function readBrief(description: string): Brief {
  const { purpose, titles, text } = readPurposeAndTitles(description);
  const plain = breakInlineNumbers(toPlainText(text));
  const isEnglish = looksEnglish(plain);
  const points: Point[] = [];
  let topic: Phrase | null = null;

  plain.split('\n').forEach((line, paragraph) => {
    const [, listed] = item.exec(line) ?? [];
    if (listed) {
      points.push(...readListItem(listed, isEnglish));
      return;
    }
    for (const sentence of splitSentences(line)) {
      if (isInstruction(sentence)) continue;
      if (topic) {
        points.push(...readFurtherSentence(sentence, paragraph));
        continue;
      }
      const read = readTopic(sentence);
      topic = read.topic;
      points.push(...read.points);
    }
  });

  const subject = topic ?? findTopic(titles, points, plain);
  const grouped = groupPoints([...readRemainder(subject), ...points], subject.text).slice(0, maxPoints);
  return { topic: shorten(subject), points: grouped, purpose, titles, isEnglish };

  function readTopic(sentence: string): { topic: Phrase | null; points: Point[] } {
    const requested = readPointsRequest(sentence);
    const { text: request, isRequest } = stripRequest(sentence);
    const isSentence = !isRequest && /[.!。！]["'”’)]*$/.test(sentence) && !heading.test(sentence);
    const { topic: head, list } = splitTopicAndList(request);
    if (list === null && isSentence) {
      return { topic: readPhrase(sentence, { isAtStart: true, isSentence, isEnglish }), points: [] };
    }
    // "Cover these points: a, b" contains points but no topic.
    if (isInstruction(`${head}:`)) return { topic: null, points: readList(list ?? requested ?? request) };
    const parts = list === null ? splitList(request) : [];
    return {
      topic: readPhrase(head, {
        isAtStart: !isRequest || /^\p{Lu}/u.test(sentence.slice(-head.length)),
        isSentence: false,
        isEnglish,
      }),
      points: list === null ? (parts.length >= 3 && isRequest ? readParts(parts) : []) : readList(list),
    };
  }

  function readFurtherSentence(sentence: string, paragraph: number): Point[] {
    const requested = readPointsRequest(sentence);
    if (requested !== null) return readList(splitTopicAndList(requested).list ?? requested);
    const phrase = readPhrase(sentence, { isAtStart: true, isSentence: /[.!。！]["'”’)]*$/.test(sentence), isEnglish });
    return phrase ? [{ phrase, details: [], paragraph }] : [];
  }

  function readList(list: string): Point[] {
    return readParts(splitList(list.replace(/[.!\s]+$/, '')));
  }

  function readParts(parts: readonly string[]): Point[] {
    return parts.flatMap((part) => {
      const phrase = readPhrase(part, { isAtStart: false, isSentence: false, isEnglish });
      return phrase ? [{ phrase, details: [], paragraph: null }] : [];
    });
  }
}

/** If the topic is too long, its start becomes the topic and its text the first point. */
function shorten(topic: Phrase): Phrase {
  if (!isTooLong(topic)) return topic;
  return { kind: 'label', text: `“${cutAtSentenceEnd(topic.text.replace(/^“|”$/g, ''), 12)}”` };
}

function readRemainder(topic: Phrase): Point[] {
  if (!isTooLong(topic)) return [];
  const text = toSentence(cutAtSentenceEnd(topic.text.replace(/^“|”$/g, ''), 80));
  return [{ phrase: { kind: 'statement', text }, details: [], paragraph: null }];
}

function isTooLong({ kind, text }: Phrase): boolean {
  return (kind === 'noun' || kind === 'label') && countWords(text) > 30;
}

/** The topic of a list without a sentence before it: the title, or all points together. */
function findTopic(titles: readonly string[], points: readonly Point[], plain: string): Phrase {
  const [title] = titles;
  if (title) return { kind: 'label', text: title };
  const [first] = points;
  const list = joinList(points.map(({ phrase }) => phrase));
  if (first) return list === null ? first.phrase : { kind: 'noun', text: list };
  const text = plain.replaceAll(/\s+/g, ' ').replace(/[.!]+$/, '');
  return { kind: 'label', text: `“${text || 'no subject'}”` };
}

/** Puts the items of "1) costs 2) time" on separate lines. */
function breakInlineNumbers(text: string): string {
  const isList = /(?:^|\s)\(?1[.)]\s[^\n]{1,500}?\s\(?2[.)]\s/.test(text);
  return isList ? text.replace(/(^|\s)\(?(\d{1,2})[.)]\s/g, '\n$2. ') : text;
}

const item = /^(?:[-*•·–—+▪◦]|\(?\d{1,3}[.)]|\(?[a-h]\))\s+(?:\[[ xX]?\]\s*)?(.+)$/;
/** "Climate change." and "The benefits of reading." are headings, despite the full stop. */
const heading = /^(?:\S+(?:\s+\S+){0,2}|(?:the|an?)\s\S+\s(?:of|between)\s[^,]+)$/i;
/** More than the longest essay has paragraphs for. */
const maxPoints = 100;
