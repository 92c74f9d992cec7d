import { isObject } from '../../../base/parse-json.ts';
import { countWords, createTopicCheck, needsDictionary } from '../../../base/words.ts';
import type { Answered } from '../../upstream/outcome.ts';
import type { OrderInput } from '../port.ts';
import * as guesses from './guesses.ts';
import { readHtml, Stream, TextParser } from './read-body.ts';

/** The paths that the operator has declared; null: they are guessed. */
export interface DeclaredFields {
  texts: readonly string[] | null;
  error: string | null;
}

type Ordered = Pick<OrderInput, 'description' | 'wordCount'>;

/**
 * The essay in a response with a 2xx status; null if there is none. What is declared is believed; everything else is guessed.
 * @param sent the description on the wire
 */
export function readEssay(
  { status, text, json }: Pick<Answered, 'status' | 'text' | 'json'>,
  order: Ordered,
  sent: string,
  { texts, error }: DeclaredFields,
): Pick<Found, 'text' | 'paths'> | null {
  const parser = new TextParser();
  const body = json === undefined || typeof json === 'string' ? parser.parse(json ?? text) : json;
  if (error !== null && saysError(body, error, parser)) return null;
  const isAccepted = status === 200 || status === 201;
  const found =
    texts === null
      ? guessEssay(body, order, sent, parser, { isAccepted, readsSigns: error === null })
      : readDeclared(body, texts, parser);
  return parser.isExhausted ? null : found;
}

/** A field such as `success` or `status` says so with the values of its name, any other one with each value. */
function saysError(body: unknown, path: string, parser: TextParser): boolean {
  const { saysFailure = guesses.hasValue } = guesses.purposeOf(path.split('.').at(-1) ?? '');
  return valuesAt(body, path, parser).some(saysFailure);
}

function readDeclared(
  body: unknown,
  paths: readonly string[],
  parser: TextParser,
): Pick<Found, 'text' | 'paths'> | null {
  const texts = paths.map((path) => joinTexts(valuesAt(body, path, parser).flatMap(textsIn), body instanceof Stream));
  const text = joinTexts(texts.filter((part) => part.trim() !== ''));
  return text.trim() === '' || text.length > maxLength ? null : { text, paths };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The values at a path such as `data.choices[0].text`. Without an index, it leads through all elements of a list. `$` is the body. */
function valuesAt(body: unknown, path: string, parser: TextParser): unknown[] {
  const steps = path === '$' ? [] : (path.match(/[^.[\]]+/g) ?? []);
  return steps.reduce<unknown[]>((values, step) => values.flatMap((value) => valuesIn(value, step, parser)), [body]);
}

function valuesIn(container: unknown, step: string, parser: TextParser): unknown[] {
  const value = typeof container === 'string' ? parser.parse(container) : container;
  if (Array.isArray(value) && /^\d+$/.test(step) && !(value instanceof Stream)) return value.slice(+step, +step + 1);
  if (Array.isArray(value)) return Array.from(value).flatMap((element) => valuesIn(element, step, parser));
  if (!isObject(value)) return [];
  const name = guesses.normalizeName(step);
  return Object.keys(value).flatMap((key) => (guesses.normalizeName(key) === name ? [value[key]] : []));
}

/** A text, or several that were joined. */
interface Found {
  text: string;
  /** Where it is, as for ESSAY_TEXT_FIELD. */
  paths: readonly string[];
  /** By the names of its field and of the objects around it. */
  rank: number;
  /** Whether its object, or one around it, says that the order failed. */
  isFailed: boolean;
}

/** What a field is for, by its name. */
type Field = ReturnType<typeof guesses.purposeOf> & { name: string; rank: number; isSection: boolean };

interface Place {
  path: string;
  /** Normalized; in a list, that of the list. */
  name: string;
  /** Of that name. */
  rank: number;
  depth: number;
  /** Whether it is one of several elements of a list. */
  isListed?: boolean;
}

function guessEssay(
  body: unknown,
  { description, wordCount }: Ordered,
  sent: string,
  parser: TextParser,
  { isAccepted, readsSigns }: { isAccepted: boolean; readsSigns: boolean },
): Found | null {
  const echoes = [sent, description].map(normalizeText);
  const fields = new Map<string, Field>();
  /** Words of each text, without what was sent. */
  const words = new Map<string, number>();
  /** More words make no difference. */
  const most = Math.max(enoughWords, wordCount);
  let values = 0;
  let judged = 0;
  const checkTopic = createTopicCheck(description);
  const topics = new Map<string, boolean>();
  const found = compose(body, { path: '', name: '', rank: guesses.rankOf(''), depth: 0 });
  return found && values <= maxValues && judged <= maxJudged
    ? judge({ ...found, isFailed: found.isFailed || !isAccepted })
    : null;

  /** The text of a value. It may be a part of an essay. */
  function compose(value: unknown, place: Place): Found | null {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return null;
    values += 1;
    if (place.depth > maxDepth || values > maxValues || guesses.isAside(value)) return null;
    if (Array.isArray(value)) return composeList(Array.from(value), place, value instanceof Stream);
    if (isObject(value)) return composeObject(value, place);
    if (typeof value !== 'string' || value.length > maxLength) return null;
    // Most texts are plain.
    const text = /^\s*[[{"`]|data:/.test(value) ? parser.parse(value) : value;
    if (typeof text !== 'string') return compose(text, { ...place, depth: place.depth + 1 });
    return { text, paths: [place.path || '$'], rank: place.rank, isFailed: false };
  }

  function composeList(list: readonly unknown[], { path, name, rank, depth }: Place, isStream: boolean): Found | null {
    const isSeveral = list.length > 1 && !isStream;
    const composeAt = (value: unknown, path: string) =>
      compose(value, { path, name, rank, depth: depth + 1, isListed: isSeveral }) ?? [];
    const isChoice = !isStream && guesses.alternativesName.test(name);
    const parts = isChoice ? [] : list.flatMap((value) => composeAt(value, path));
    if (isChoice || (isSeveral && (parts.length === 1 || parts.filter(isWhole).length > 1))) {
      const essays = list.flatMap((value, index) => composeAt(value, `${path}[${index}]`));
      return (essays.length > 1 && essays.find(judge)) || essays[0] || null;
    }
    const joined = join(parts, isStream);
    // The last part of a stream says how it ended.
    const isFailed = isStream ? hasFailed(list.at(-1)) : joined?.isFailed === true;
    const isNested = parts.some((part) => part.paths.length > 1);
    const { paths } = parts.find((part) => part.text === joined?.text) ?? joined ?? { paths: [] };
    return joined && { ...joined, isFailed, paths: isNested ? [path || '$'] : paths };
  }

  function composeObject(object: Record<string, unknown>, { path, depth, isListed = false }: Place): Found | null {
    const found: (Found & { purpose: string; isSection: boolean; isList: boolean })[] = [];
    for (const key in object) {
      const value = object[key];
      const { name, purpose, rank, isSection } = fieldOf(key);
      const mayHaveText = purpose === 'text' || purpose === 'title' || (purpose === 'message' && mayHaveEssay(value));
      if (!mayHaveText) continue;
      const part = compose(value, { path: path === '' ? key : `${path}.${key}`, name, rank, depth: depth + 1 });
      if (part === null) continue;
      const isList = Array.isArray(value) && value.length > 1;
      const { text, paths, isFailed } = part;
      found.push({ text, paths, isFailed, rank: Math.min(part.rank, rank), purpose, isSection, isList });
    }
    const many = found.length > 1 ? found : [];
    values += many.length;
    const titles = many.filter(({ purpose }) => purpose === 'title');
    const parts = many.filter(
      ({ purpose, isSection, text }) => purpose !== 'title' && (isSection || sentence.test(text)),
    );
    const isTitled = titles.length > 0 && parts.length === 1 && (isListed || parts[0]?.isList);
    const joined = isTitled || many.filter((field) => field.isSection).length > 1 ? join([...titles, ...parts]) : null;
    const chosen = choose(joined ? [{ ...joined, rank: sectionsRank }, ...found] : found);
    return chosen && !chosen.isFailed && hasFailed(object) ? { ...chosen, isFailed: true } : chosen;
  }

  function isOnTopic(text: string): boolean {
    const known = topics.get(text) ?? (mayReadWords(text) && checkTopic(text));
    topics.set(text, known);
    return known;
  }

  /** Some services have the essay in a field for messages, or around it. */
  function mayHaveEssay(value: unknown): boolean {
    return typeof value !== 'string' || (countOwn(value) >= enoughWords && isOnTopic(value));
  }

  function hasFailed(value: unknown): boolean {
    if (!readsSigns || !isObject(value)) return false;
    for (const key in value) if (fieldOf(key).saysFailure?.(value[key])) return true;
    return false;
  }

  /** The essay among the texts of an object; if there is none, the text that may be a part of one. */
  function choose(candidates: readonly Found[]): Found | null {
    const [only] = candidates;
    if (candidates.length === 1 && only && !only.text.includes('<')) return only;
    const byRank = candidates.toSorted((one, other) => one.rank - other.rank);
    const essays = byRank.flatMap((candidate) => judge(candidate) ?? []);
    const whole = essays.find(isWhole);
    if (whole) return whole;
    const named = essays.filter(isNamed);
    const minLength = 0.8 * Math.max(...named.map(({ text }) => text.length));
    const long = named.find(({ text }) => text.length >= minLength);
    if (long) return long;
    // Two texts in fields with unknown names could be anything.
    if (essays[0]) return new Set(essays.map(({ text }) => normalizeText(text))).size === 1 ? essays[0] : null;
    return byRank.find((candidate) => isNamed(candidate) || byRank.length === 1) ?? null;
  }

  /** The text, if it is an essay. */
  function judge(found: Found): Found | null {
    if (isTooShort(found.text)) return null;
    const isMarked = found.text.includes('<');
    if (isMarked) judged += 1 + found.text.length / markedCharactersPerJudged;
    if (judged > maxJudged) return null;
    const essay = isMarked ? { ...found, text: readHtml(found.text) } : found;
    const words = countOwn(essay.text);
    if (words < Math.min(minWords, wordCount / 2) || guesses.isNoProse(essay.text)) return null;
    // Messages come in all languages, but they are short, and not about the topic, which they may quote.
    if (words < enoughWords && !isOnTopic(removeSent(essay.text, 'once'))) return null;
    if (isWhole(essay)) return essay;
    const isProse = isNamed(found) || sentence.test(essay.text);
    return isProse && !found.isFailed && !guesses.isMessage(essay.text) ? essay : null;
  }

  /** Whether it has two thirds of the order, in a field for texts: then no other field counts against it. */
  function isWhole(found: Found): boolean {
    return isNamed(found) && countOwn(found.text) >= (2 / 3) * wordCount;
  }

  /** Without counting: words have two characters on average, with the spaces between them. */
  function isTooShort(text: string): boolean {
    return text.length < 2 * Math.min(minWords, wordCount / 2) - 1;
  }

  function countOwn(text: string): number {
    if (isTooShort(text) || text.length > maxLength) return 0;
    const known = words.get(text);
    if (known !== undefined) return known;
    judged += 1 + text.length / charactersPerJudged;
    const counted = mayReadWords(text) ? countWords(removeSent(text), most) : 0;
    words.set(text, counted);
    return counted;
  }

  function mayReadWords(text: string): boolean {
    if (needsDictionary(text)) judged += text.length / dictionaryCharactersPerJudged;
    return judged <= maxJudged;
  }

  /** The same for all objects of a list or stream. */
  function fieldOf(key: string): Field {
    const known = fields.get(key);
    if (known) return known;
    values += valuesPerName;
    const name = guesses.normalizeName(key);
    const field = {
      name,
      ...guesses.purposeOf(name),
      rank: guesses.rankOf(name),
      isSection: guesses.sectionName.test(name),
    };
    fields.set(key, field);
    return field;
  }

  /** Normalized; empty if the text is a part of what was sent. The words of a short description may be in any essay. */
  function removeSent(text: string, times: 'once' | 'always' = 'always'): string {
    let own = normalizeText(text);
    for (const echo of new Set(echoes)) {
      if (echo.length < 20) continue;
      if (echo.includes(own)) return '';
      own = times === 'once' ? own.replace(echo, ' ') : own.replaceAll(echo, ' ');
    }
    return own;
  }
}

/** JSON that is nested more deeply is not read. */
const maxDepth = 20;
/** Characters of an essay: several times 2,000 words of any language. Thai of this length takes 10 ms to count. */
const maxLength = 60_000;
/** Values that are looked at: a stream has five for each of its tokens. */
const maxValues = 45_000;
/** A name that was not seen before takes as long as so many values. */
const valuesPerName = 25;
/** Texts of which each could be the essay; long ones count as several, the more so if they have tags, or words that are found with a dictionary. */
const maxJudged = 1_000;
const charactersPerJudged = 1_000;
const dictionaryCharactersPerJudged = 60;
const markedCharactersPerJudged = 300;
const minWords = 8;
const sectionsRank = guesses.rankOf('sections of an essay');
/** Messages are shorter. */
const enoughWords = 150;
const sentence = /[.!?]['"”’)\]]*(?:\s|$)|[^\P{Sentence_Terminal}.!?]/u;

function isNamed({ rank }: Found): boolean {
  return rank < guesses.unknownRank;
}

/** Several texts as one. */
function join(parts: readonly Found[], isStream = false): Found | null {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const texts = parts.map((part) => part.text);
  const text = joinTexts(texts, isStream);
  const paths = [...new Set(parts.flatMap((part) => part.paths))];
  return first ? { text, paths, rank: first.rank, isFailed: parts.some((part) => part.isFailed) } : null;
}

/** Joins parts: tokens as they are, paragraphs with empty lines. One that contains the others, such as all text so far, is the whole text. */
function joinTexts(parts: readonly string[], isStream = false): string {
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  const others = parts.filter((part) => part !== longest);
  if (others.every((part) => longest.startsWith(part))) return longest;
  // Too long for an essay, also if one of them is the whole text.
  if (parts.reduce((sum, { length }) => sum + length, 0) > 2 * maxLength) return parts.join('');
  if (containsAll(longest, others)) return longest;
  const isTokens = parts.join('').length < 25 * parts.length;
  const isContinued = (part: string, before: string) =>
    isTokens ||
    /^\s|^$/.test(before.slice(-1)) ||
    /^[\s\p{Ll},.;:!?)]/u.test(part) ||
    (isStream && !/[.!?…。।؟"”]$/u.test(before.slice(-1)));
  return parts.map((part, index) => (isContinued(part, parts[index - 1] ?? '') ? part : `\n\n${part}`)).join('');
}

/** Whether a text is all others together, or has each of them. */
function containsAll(text: string, others: readonly string[]): boolean {
  const compact = (part: string) => part.replaceAll(/\s/g, '');
  if (compact(text) === compact(others.join(''))) return true;
  return others.length < 100 && others.every((part) => text.includes(part.trim()));
}

/** Its letters and digits. */
function normalizeText(text: string): string {
  const words = text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
  return words.trim();
}
