import { countWords } from '../../../words.ts';
import { cutAtSentenceEnd, splitSentences } from '../sentences.ts';
import { type EssayPurpose, readPurposeAndTitles } from '../writing-order.ts';
import { joinList } from './fill-template.ts';
import { type Phrase, readPhrase, toSentence } from './phrase.ts';
import { toPlainText } from './plain-text.ts';
import { isInstruction, readPointsRequest, splitList, splitTopicAndList, stripRequest } from './requests.ts';

/** The content of a description. */
export interface Brief {
  topic: Phrase;
  points: Point[];
  purpose: EssayPurpose | null;
  titles: string[];
  isEnglish: boolean;
}

export interface Point {
  phrase: Phrase;
  /** Sentences of the description that belong to the point. */
  details: string[];
  /** The index of its paragraph in the description; null if it comes from a list. */
  paragraph: number | null;
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

/** Reads a list item: "Cost", "Cost: rent is too high", "Cost. Rent is too high." or a sentence. */
function readListItem(text: string, isEnglish: boolean): Point[] {
  const [, name, remark] = /^([^.:!?]{2,60}?)(?::| [-–—]) (.+)$/.exec(text) ?? [];
  const isNamed = name !== undefined && remark !== undefined && countWords(name) <= 6;
  const [first = '', ...rest] = isNamed ? [name, ...splitSentences(remark)] : splitSentences(text);
  const isSentence = !isNamed && /[.!。！]["'”’)]*$/.test(first) && countWords(first) > 3;
  const phrase = readPhrase(first, { isAtStart: true, isSentence, isEnglish });
  if (!phrase) return [];
  return [{ phrase, details: rest.map((sentence) => toDetail(sentence, isEnglish)), paragraph: null }];
}

/**
 * Removes repeated points and repetitions of the topic. In a long description, also groups statements of the same
 * paragraph into points of a few sentences.
 */
function groupPoints(all: readonly Point[], topic: string): Point[] {
  const seen = new Set([normalize(topic)]);
  const points = all.filter(({ phrase }) => !seen.has(normalize(phrase.text)) && seen.add(normalize(phrase.text)));
  const statements = points.filter(({ paragraph }) => paragraph !== null);
  if (statements.length <= maxSingleStatements) return [...points];
  const grouped: Point[] = [];
  for (const point of points) {
    const last = grouped.at(-1);
    const isSameParagraph = last && point.paragraph !== null && last.paragraph === point.paragraph;
    if (isSameParagraph && last.details.length < statementsPerParagraph - 1) {
      last.details.push(toSentence(point.phrase.text));
    } else {
      grouped.push({ ...point, details: [...point.details] });
    }
  }
  return grouped;
}

function normalize(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{S}]+/gu, ' ')
    .trim();
}

/** Turns the text after a point's name into a sentence. */
function toDetail(text: string, isEnglish: boolean): string {
  const phrase = readPhrase(text, { isAtStart: true, isSentence: /[.!?]$/.test(text), isEnglish });
  if (!phrase || phrase.kind === 'statement' || phrase.kind === 'question') return toSentence(text);
  return toSentence(phrase.kind === 'noun' ? `This covers ${phrase.text}` : `In short: ${phrase.text}`);
}

/** More statements are grouped: a paragraph for each would be a list and not an essay. */
const maxSingleStatements = 6;
const statementsPerParagraph = 4;

/**
 * Whether a text can be part of English sentences. Compares its English and foreign function words; if that is
 * undecided, plain ASCII text counts as English.
 */
function looksEnglish(text: string): boolean {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => englishWords.has(word)).length;
  const foreign = words.filter((word) => foreignWords.has(word)).length;
  const latin = words.filter((word) => /^[a-z]+$/.test(word)).length;
  if (words.length === 0 || latin < words.length * 0.6) return false;
  if (english !== foreign) return english > foreign;
  return english > 0 || latin === words.length;
}

const englishWords = new Set(
  'the of and to are for with how why about from that their what by should into a in on is it'.split(' '),
);
const foreignWords = new Set(
  'der die das und ein eine einen für über mit ist le la les des du et une un sur pour avec est el los las una del y con para sobre il di che per och att het een van voor dat är nie się na do w z и в на не что de en i o os'.split(
    ' ',
  ),
);
