import { parseJson } from '../../parse-json.ts';
import type { EssayWriter } from '../essays.ts';
import { type Field, isFailureSign, isMessageField, isServiceText, namesOf, normalizeName } from './failure-signs.ts';

/*
 * Whether a response contains an essay. The service documents no shape, so an essay is recognized by what speaks for it, and
 * everything else is a failure that carries what was received.
 */

interface Order {
  /** The description on the wire. */
  description: string;
  /** Maximum number of words. */
  wordCount: number;
}

interface Received {
  status: number;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

/**
 * The essay in a response, or null. With status 200 or 201 and no sign of failure, it is the first of: the configured field, the
 * sections in their order, a text in a field with a well-known name, or the only prose of the body.
 * @param textField a dotted path; null: no field is configured
 */
export function readEssayText(
  { status, text, json }: Received,
  { description, wordCount }: Order,
  textField: string | null,
): string | null {
  if (status !== 200 && status !== 201) return null;
  const ordered = { sent: normalizeText(description), wordCount };
  const values = listValues(json === undefined ? text : json);
  if (values === null || values.some(isFailureSign)) return null;
  const configured = textField?.split('.').map(normalizeName).join('.');
  return (
    findNamed(values, configured === undefined ? [] : [configured], ordered) ??
    joinSections(values, ordered) ??
    findNamed(values, essayPaths, ordered) ??
    findOnlyProse(values, ordered)
  );
}

/** What wrote the essay, as the self-hosted service reports it in `writer`. It speaks neither for an essay nor against it. */
export function readWriter(json: unknown): EssayWriter {
  const writer = readProperty(json, 'writer');
  if (writer === 'drafter') return 'DRAFTER';
  return writer === 'model' ? 'MODEL' : 'SERVICE';
}

const essayFields = namesOf('essay, essay text, generated essay, result, text, content, data, response');
const essayPaths = ['', 'data.', 'essay.', 'result.', 'response.'].flatMap((envelope) =>
  [...essayFields].map((name) => envelope + name),
);
const sectionPaths: ReadonlySet<string> = new Set(
  ['', 'data.', 'essay.', 'result.', 'response.', 'content.'].flatMap((envelope) => [
    `${envelope}sections`,
    `${envelope}paragraphs`,
    envelope.slice(0, -1),
  ]),
);

/** What was ordered, to recognize an echo of it. */
interface Ordered {
  /** The normalized description. */
  sent: string;
  wordCount: number;
}

/** A value somewhere in a body. */
interface Value extends Field {
  /** Normalized names and indexes, with dots. */
  path: string;
  /** Whether it is a part of what was sent, reasoning of a model, or what comes with an essay, such as its sources. */
  isAside: boolean;
}

/** All values of a body; null if there are more than the body of an essay has. A text that is JSON counts as what it contains. */
function listValues(body: unknown): Value[] | null {
  const values: Value[] = [{ path: '', name: '', value: parseText(body), parent: null, isAside: false }];
  for (const { path, name: listName, value: parent, isAside: isInAside } of values) {
    if (typeof parent !== 'object' || parent === null) continue;
    if (Array.isArray(parent) && parent.length > maxValues) return null;
    const isAside = isInAside || isAsideObject(parent);
    for (const [key, child] of Object.entries(parent)) {
      if (values.length > maxValues) return null;
      const ownName = normalizeName(key);
      const name = Array.isArray(parent) ? listName : ownName;
      const childPath = path === '' ? ownName : `${path}.${ownName}`;
      values.push({ path: childPath, name, value: parseText(child), parent, isAside: isAside || asides.has(name) });
    }
  }
  return values;
}

const maxValues = 2_000;

/** Some services wrap their answer in a text, perhaps in a fence. */
function parseText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const json = /^\s*(?:```\w*\s+)?([[{][\s\S]*[\]}])\s*(?:```\s*)?$/.exec(value)?.[1];
  return json === undefined ? value : (parseJson(json) ?? value);
}

const asides = namesOf(
  'description, prompt, system prompt, user prompt, input, query, question, request, instructions, parameters, params, ' +
    'topic, thinking, thought, thoughts, reasoning, reasoning content, analysis, references, citations, sources, ' +
    'bibliography, footnotes, outline, feedback, suggestions',
);

/** Whether it is a message of another role, or reasoning in a list of contents. */
function isAsideObject(value: object): boolean {
  const [role, type] = [readProperty(value, 'role'), readProperty(value, 'type')];
  return (
    (typeof role === 'string' && /^(?:user|system|developer|tool)$/i.test(role)) ||
    (typeof type === 'string' && /think|thought|reasoning/i.test(type)) ||
    readProperty(value, 'thought') === true
  );
}

/** The first essay at one of the paths. */
function findNamed(values: readonly Value[], paths: readonly string[], ordered: Ordered): string | null {
  for (const path of paths) {
    for (const found of values) if (found.path === path && isEssay(found.value, ordered)) return found.value;
  }
  return null;
}

/** Null if there is none, or several: they could be drafts, or something other than essays. */
function findOnlyProse(values: readonly Value[], ordered: Ordered): string | null {
  const prose = values.filter(({ value, isAside }) => !isAside && isProse(value, ordered));
  const [first] = prose;
  // Beside a long message, even prose may explain a failure. The same text in another format does not count.
  if (first === undefined || prose.some(({ name }) => isMessageField(name))) return null;
  const texts = new Set(prose.map(({ value }) => normalizeText(String(value))));
  return texts.size === 1 ? String(first.value) : null;
}

/** The texts of an essay that has its parts in fields of one object, or in a list, joined by empty lines, after its title. */
function joinSections(values: readonly Value[], ordered: Ordered): string | null {
  for (const { path, value, parent } of values) {
    if (!sectionPaths.has(path)) continue;
    const parts = readSections(value);
    const texts = parts.filter((part) => part?.trim()).map(String);
    if (texts.length < 2 || parts.includes(null) || areRepeated(texts)) continue;
    const title = [value, parent]
      .map((object) => readProperty(object, 'title'))
      .find((text) => typeof text === 'string');
    const joined = [...(title === undefined ? [] : [title]), ...texts].join('\n\n');
    // Two drafts are longer.
    const isOne = countWords(joined) < 1.5 * ordered.wordCount;
    if (isOne && isProse(joined, ordered) && hasAllSentences(joined, values, ordered)) return joined;
  }
  return null;
}

/** Whether one of the texts is the whole essay. */
function areRepeated(texts: readonly string[]): boolean {
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return texts.every((text) => longest.includes(text));
}

/** Whether no sentences of a body are missing in a text, other than messages and what was sent. */
function hasAllSentences(text: string, values: readonly Value[], { sent }: Ordered): boolean {
  return values.every(
    ({ name, value, isAside }) =>
      typeof value !== 'string' ||
      value.length > maxLength ||
      text.includes(value.trim()) ||
      isAside ||
      isMessageField(name) ||
      !sentence.test(value) ||
      countOwnWords(value, sent) < minWords,
  );
}

/** The parts of an essay in an object or a list. Null for a part that has no text. */
function readSections(parent: unknown): (string | null)[] {
  if (Array.isArray(parent)) return parent.map(readSection);
  const entries = typeof parent === 'object' && parent !== null ? Object.entries(parent) : [];
  if (!entries.some(([name]) => sectionName.test(name))) return [];
  return entries.flatMap(([name, value]) => {
    if (!sectionName.test(name) && name !== 'content' && name !== 'text') return [];
    return Array.isArray(value) ? value.map(readSection) : [readSection(value)];
  });
}

const sectionName =
  /^(?:introduction|intro|body|main|main_?body|body_?paragraphs?|paragraphs|conclusion|(?:section|paragraph|part|body|body_?paragraph)?_?\d+)$/i;

/** A section of a list: a text, or an object with a text, or paragraphs, and perhaps a heading. */
function readSection(section: unknown): string | null {
  if (typeof section === 'string') return section;
  if (typeof section !== 'object' || section === null || isAsideObject(section)) return null;
  const texts = ['text', 'content', 'body', 'paragraph', 'paragraphs'].map((name) => readProperty(section, name));
  const [found] = texts.filter((text) => typeof text === 'string' || Array.isArray(text));
  const heading = readProperty(section, 'heading') ?? readProperty(section, 'title');
  const parts = [...(typeof heading === 'string' ? [heading] : []), ...[found ?? null].flat()];
  return parts.every((part) => typeof part === 'string') ? parts.join('\n\n') : null;
}

/** Whether a text in a field for the essay is one: a message has fewer words. */
function isEssay(value: unknown, { sent, wordCount }: Ordered): value is string {
  if (typeof value !== 'string' || value.length > maxLength || isServiceText(value)) return false;
  return countOwnWords(value, sent) >= Math.min(wordCount / 3, enoughWords);
}

/** Whether a text elsewhere is an essay: then it also has sentences, a tenth of the ordered words, and is not data. */
function isProse(value: unknown, ordered: Ordered): value is string {
  if (!isEssay(value, ordered) || !sentence.test(value) || data.test(value)) return false;
  return countOwnWords(value, ordered.sent) >= Math.max(minWords, ordered.wordCount / 10);
}

const enoughWords = 40;
/** In characters: several times the largest number of words. */
const maxLength = 50_000;
const minWords = 8;
const sentence = /^[^\p{L}\n]*\p{L}[^\n]*(?:[.!?]['"”’)\]]*(?:\s|$)|[^\P{Sentence_Terminal}.!?])/mu;
/** JSON that was cut off, markup, a document, or fields in lines. An essay may begin with "Data: the new oil". */
const data = /^\s*(?:[<{]|\[\s*["{[\d]|%PDF-|PK\p{Cc}|(?:data|event|id|retry|status|error|code|message):)/u;

/** Words between spaces; in scripts without spaces, a word has about two characters. */
export function countWords(text: string): number {
  const letters = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Tibetan}]/gu,
  );
  return Math.max(text.match(/\S+/g)?.length ?? 0, Math.floor((letters?.length ?? 0) / 2));
}

/** The words of a text without what was sent; 0 if it is a part of that, or little more. */
function countOwnWords(text: string, sent: string): number {
  const received = normalizeText(text);
  // The words of a short text may be in any description, and those of a short description in any essay.
  if (Math.min(received.length, sent.length) < minEchoLength) return countWords(received);
  const rest = received.replaceAll(sent, '');
  if (sent.includes(received) || (rest !== received && rest.length < sent.length / 2)) return 0;
  return countWords(rest);
}

const minEchoLength = 20;

/** Its letters and digits, without the tags of HTML. */
function normalizeText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/<[^<>]{1,200}>/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

export function readProperty(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}
