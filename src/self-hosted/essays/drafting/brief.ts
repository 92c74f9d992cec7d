import { readPurposeAndTitles, type WritingPurpose } from '../purpose-and-titles.ts';
import { countWords, cutAtSentenceEnd, splitSentences } from '../words.ts';
import { joinList } from './fill-phrase.ts';
import { looksEnglish } from './language.ts';
import { asSentence, type Phrase, readPhrase } from './phrase.ts';
import { toPlainText } from './plain-text.ts';
import { partTopicFromList, splitList } from './point-list.ts';
import { gatherPoints, type Point, readItem } from './points.ts';
import { isRemarkToWriter, readPointsRequest, stripRequest } from './requests.ts';

/** A description, read: what to write about, what to say about it, and to what end. */
export interface Brief {
  topic: Phrase;
  points: Point[];
  purpose: WritingPurpose | null;
  titles: string[];
  isEnglish: boolean;
}

const item = /^(?:[-*•·–—+▪◦]|\(?\d{1,3}[.)]|\(?[a-h]\))\s+(?:\[[ xX]?\]\s*)?(.+)$/;
/** "Climate change." or "The benefits of reading." is a heading, for all its full stop. */
const heading = /^(?:\S+(?:\s+\S+){0,2}|(?:the|an?)\s\S+\s(?:of|between)\s[^,]+)$/i;
/** More points than the longest essay could give a paragraph to. */
const maxPoints = 100;

/** Reads a description. Whatever it says is kept in its own words; whatever it asks of the writer is not content. */
export function readBrief(description: string): Brief {
  const { purpose, titles, text } = readPurposeAndTitles(description);
  const plain = breakInlineNumbers(toPlainText(text));
  const isEnglish = looksEnglish(plain);
  const points: Point[] = [];
  let topic: Phrase | null = null;

  plain.split('\n').forEach((line, paragraph) => {
    const [, listed] = item.exec(line) ?? [];
    if (listed) {
      points.push(...readItem(listed, isEnglish));
      return;
    }
    for (const sentence of splitSentences(line)) {
      if (isRemarkToWriter(sentence)) continue;
      if (topic) {
        points.push(...readFurther(sentence, paragraph));
        continue;
      }
      const read = readTopic(sentence);
      topic = read.topic;
      points.push(...read.points);
    }
  });

  const subject = topic ?? findTopic(titles, points, plain);
  const gathered = gatherPoints([...readRemainder(subject), ...points], subject.text).slice(0, maxPoints);
  return { topic: shorten(subject), points: gathered, purpose, titles, isEnglish };

  function readTopic(sentence: string): { topic: Phrase | null; points: Point[] } {
    const asked = readPointsRequest(sentence);
    const { text: request, isRequest } = stripRequest(sentence);
    const isSentence = !isRequest && /[.!。！]["'”’)]*$/.test(sentence) && !heading.test(sentence);
    const { topic: head, list } = partTopicFromList(request);
    if (list === null && isSentence) {
      return { topic: readPhrase(sentence, { isAtStart: true, isSentence, isEnglish }), points: [] };
    }
    // "Cover these points: a, b" names points only; what they are about stands in a title, or nowhere.
    if (isRemarkToWriter(`${head}:`)) return { topic: null, points: readList(list ?? asked ?? request) };
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

  function readFurther(sentence: string, paragraph: number): Point[] {
    const asked = readPointsRequest(sentence);
    if (asked !== null) return readList(partTopicFromList(asked).list ?? asked);
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

/** A text without an end to its first sentence names no topic: its beginning does, and its text is the first point. */
function shorten(topic: Phrase): Phrase {
  if (!isEndless(topic)) return topic;
  return { kind: 'label', text: `“${cutAtSentenceEnd(topic.text.replace(/^“|”$/g, ''), 12)}”` };
}

function readRemainder(topic: Phrase): Point[] {
  if (!isEndless(topic)) return [];
  const text = asSentence(cutAtSentenceEnd(topic.text.replace(/^“|”$/g, ''), 80));
  return [{ phrase: { kind: 'statement', text }, details: [], paragraph: null }];
}

function isEndless({ kind, text }: Phrase): boolean {
  return (kind === 'noun' || kind === 'label') && countWords(text) > 30;
}

/** A list without a sentence before it: the title says what it is about, or its own points together do. */
function findTopic(titles: readonly string[], points: readonly Point[], plain: string): Phrase {
  const [title] = titles;
  if (title) return { kind: 'label', text: title };
  const [first] = points;
  const list = joinList(points.map(({ phrase }) => phrase));
  if (first) return list === null ? first.phrase : { kind: 'noun', text: list };
  const text = plain.replaceAll(/\s+/g, ' ').replace(/[.!]+$/, '');
  return { kind: 'label', text: `“${text || 'no subject'}”` };
}

/** "1) costs 2) time" is a list, only written in one line. */
function breakInlineNumbers(text: string): string {
  const isList = /(?:^|\s)\(?1[.)]\s[^\n]{1,500}?\s\(?2[.)]\s/.test(text);
  return isList ? text.replace(/(^|\s)\(?(\d{1,2})[.)]\s/g, '\n$2. ') : text;
}
