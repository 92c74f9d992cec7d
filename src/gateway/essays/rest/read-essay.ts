import { isObject } from '../../../base/parse-json.ts';
import { countWords, createTopicCheck } from '../../../base/words.ts';
import type { Answered } from '../../upstream/outcome.ts';
import type { OrderInput } from '../port.ts';
import * as guesses from './guesses.ts';
import { parseText, readHtml, Stream } from './read-body.ts';

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
  const body = json === undefined || typeof json === 'string' ? parseText(json ?? text) : json;
  if (error !== null && saysError(body, error)) return null;
  if (texts !== null) return readDeclared(body, texts);
  return guessEssay(body, order, sent, { isAccepted: status === 200 || status === 201, readsSigns: error === null });
}

/** A field such as `success` or `status` says so with the values of its name, any other one with each value. */
function saysError(body: unknown, path: string): boolean {
  const { saysFailure = guesses.hasValue } = guesses.purposeOf(path.split('.').at(-1) ?? '');
  return valuesAt(body, path).some(saysFailure);
}

function readDeclared(body: unknown, paths: readonly string[]): Pick<Found, 'text' | 'paths'> | null {
  const texts = paths.map((path) => joinTexts(valuesAt(body, path).flatMap(textsIn), body instanceof Stream));
  const text = joinTexts(texts.filter((part) => part.trim() !== ''));
  return text.trim() === '' ? null : { text, paths };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The values at a path such as `data.choices[0].text`. Without an index, it leads through all elements of a list. `$` is the body. */
function valuesAt(body: unknown, path: string): unknown[] {
  const steps = path === '$' ? [] : (path.match(/[^.[\]]+/g) ?? []);
  return steps.reduce<unknown[]>((values, step) => values.flatMap((value) => valuesIn(value, step)), [body]);
}

function valuesIn(container: unknown, step: string): unknown[] {
  const value = typeof container === 'string' ? parseText(container) : container;
  if (Array.isArray(value) && /^\d+$/.test(step) && !(value instanceof Stream)) return value.slice(+step, +step + 1);
  if (Array.isArray(value)) return Array.from(value).flatMap((element) => valuesIn(element, step));
  const fields = isObject(value) ? Object.entries(value) : [];
  return fields.filter(([key]) => guesses.normalizeName(key) === guesses.normalizeName(step)).map(([, child]) => child);
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

interface Place {
  path: string;
  /** Normalized; in a list, that of the list. */
  name: string;
  depth: number;
  /** Whether it is one of several elements of a list. */
  isListed?: boolean;
}

function guessEssay(
  body: unknown,
  { description, wordCount }: Ordered,
  sent: string,
  { isAccepted, readsSigns }: { isAccepted: boolean; readsSigns: boolean },
): Found | null {
  const echoes = [sent, description].map(normalizeText);
  const isOnTopic = createTopicCheck(description);
  const found = compose(body, { path: '', name: '', depth: 0 });
  return found && judge({ ...found, isFailed: found.isFailed || !isAccepted });

  /** The text of a value. It may be a part of an essay. */
  function compose(value: unknown, place: Place): Found | null {
    if (place.depth > maxDepth || guesses.isAside(value)) return null;
    if (Array.isArray(value)) return composeList(Array.from(value), place, value instanceof Stream);
    if (isObject(value)) return composeObject(value, place);
    if (typeof value !== 'string') return null;
    // Most texts are plain.
    const text = /^\s*[[{"`]|data:/.test(value) ? parseText(value) : value;
    if (typeof text !== 'string') return compose(text, { ...place, depth: place.depth + 1 });
    return { text, paths: [place.path || '$'], rank: guesses.rankOf(place.name), isFailed: false };
  }

  function composeList(list: readonly unknown[], { path, name, depth }: Place, isStream: boolean): Found | null {
    const isSeveral = list.length > 1 && !isStream;
    const composeAt = (value: unknown, path: string) =>
      compose(value, { path, name, depth: depth + 1, isListed: isSeveral }) ?? [];
    const parts = list.flatMap((value) => composeAt(value, path));
    const hasWhole = isSeveral && (parts.length === 1 || parts.filter(isWhole).length > 1);
    if (hasWhole || (!isStream && guesses.alternativesName.test(name))) {
      const essays = list.flatMap((value, index) => composeAt(value, `${path}[${index}]`));
      return essays.find(judge) ?? essays[0] ?? null;
    }
    const joined = join(parts, isStream);
    // The last part of a stream says how it ended.
    const isFailed = isStream ? hasFailed(list.at(-1)) : joined?.isFailed === true;
    const isNested = parts.some((part) => part.paths.length > 1);
    const { paths } = parts.find((part) => part.text === joined?.text) ?? joined ?? { paths: [] };
    return joined && { ...joined, isFailed, paths: isNested ? [path || '$'] : paths };
  }

  function composeObject(object: Record<string, unknown>, { path, depth, isListed = false }: Place): Found | null {
    const fields = Object.entries(object).flatMap(([key, value]) => {
      const name = guesses.normalizeName(key);
      const { purpose } = guesses.purposeOf(name);
      const mayHaveText = purpose === 'text' || purpose === 'title' || (purpose === 'message' && mayHaveEssay(value));
      const place = { path: path === '' ? key : `${path}.${key}`, name, depth: depth + 1 };
      const found = mayHaveText ? compose(value, place) : null;
      if (found === null) return [];
      const rank = Math.min(found.rank, guesses.rankOf(name));
      const isSection = guesses.sectionName.test(name);
      return [{ ...found, rank, purpose, isSection, isList: Array.isArray(value) && value.length > 1 }];
    });
    const many = fields.length > 1 ? fields : [];
    const titles = many.filter(({ purpose }) => purpose === 'title');
    const parts = many.filter((field) => !titles.includes(field) && (field.isSection || sentence.test(field.text)));
    const isTitled = titles.length > 0 && parts.length === 1 && (isListed || parts[0]?.isList);
    const joined = isTitled || many.filter((field) => field.isSection).length > 1 ? join([...titles, ...parts]) : null;
    const found = choose(joined ? [{ ...joined, rank: guesses.rankOf('sections of an essay') }, ...fields] : fields);
    return found && { ...found, isFailed: found.isFailed || hasFailed(object) };
  }

  /** Some services have the essay in a field for messages, or around it. */
  function mayHaveEssay(value: unknown): boolean {
    return typeof value !== 'string' || (countWords(value) >= enoughWords && isOnTopic(value));
  }

  function hasFailed(value: unknown): boolean {
    if (!readsSigns || !isObject(value)) return false;
    for (const [key, child] of Object.entries(value)) if (guesses.purposeOf(key).saysFailure?.(child)) return true;
    return false;
  }

  /** The essay among the texts of an object; if there is none, the text that may be a part of one. */
  function choose(candidates: readonly Found[]): Found | null {
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
    const essay = { ...found, text: found.text.includes('<') ? readHtml(found.text) : found.text };
    const own = removeSent(essay.text);
    const words = countWords(own);
    if (words < Math.min(minWords, wordCount / 2) || guesses.isNoProse(essay.text)) return null;
    // Messages come in all languages, but they are short, and not about the topic.
    if (words < enoughWords && !isOnTopic(own)) return null;
    if (isWhole(essay)) return essay;
    const isProse = isNamed(found) || sentence.test(essay.text);
    return isProse && !found.isFailed && !guesses.isMessage(essay.text) ? essay : null;
  }

  /** Whether it has two thirds of the order, in a field for texts: then no other field counts against it. */
  function isWhole(found: Found): boolean {
    return isNamed(found) && countWords(removeSent(found.text)) >= (2 / 3) * wordCount;
  }

  /** Normalized; empty if the text is a part of what was sent. The words of a short description may be in any essay. */
  function removeSent(text: string): string {
    let own = normalizeText(text);
    for (const echo of echoes) if (echo.length >= 20) own = echo.includes(own) ? '' : own.replaceAll(echo, ' ');
    return own;
  }
}

/** JSON that is nested more deeply is not read. */
const maxDepth = 20;
const minWords = 8;
/** Messages are shorter. */
const enoughWords = 150;
const sentence = /[.!?]['"”’)\]]*(?:\s|$)|[^\P{Sentence_Terminal}.!?]/u;

function isNamed({ rank }: Found): boolean {
  return rank < guesses.unknownRank;
}

/** Several texts as one. */
function join(parts: readonly Found[], isStream = false): Found | null {
  const [first] = parts;
  const texts = parts.map((part) => part.text);
  const text = joinTexts(texts, isStream);
  const paths = [...new Set(parts.flatMap((part) => part.paths))];
  return first ? { text, paths, rank: first.rank, isFailed: parts.some((part) => part.isFailed) } : null;
}

/** Joins parts: tokens as they are, paragraphs with empty lines. One that contains the others is the whole text. */
function joinTexts(parts: readonly string[], isStream = false): string {
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  if (containsAll(longest, parts)) return longest;
  const isTokens = parts.join('').length < 25 * parts.length;
  const isContinued = (part: string, before: string) =>
    isTokens ||
    /^\s|^$/.test(before.slice(-1)) ||
    /^[\s\p{Ll},.;:!?)]/u.test(part) ||
    (isStream && !/[.!?…。।؟"”]$/u.test(before.slice(-1)));
  return parts.map((part, index) => (isContinued(part, parts[index - 1] ?? '') ? part : `\n\n${part}`)).join('');
}

/** Also if each part repeats all text so far, or the last one the whole text. */
function containsAll(text: string, parts: readonly string[]): boolean {
  const others = parts.filter((part) => part !== text);
  const compact = (part: string) => part.replaceAll(/\s/g, '');
  if (others.every((part) => text.startsWith(part)) || compact(text) === compact(others.join(''))) return true;
  return others.length < 100 && others.every((part) => text.includes(part.trim()));
}

/** Its letters and digits. */
function normalizeText(text: string): string {
  const words = text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
  return words.trim();
}
