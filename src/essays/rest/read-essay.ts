import { findRefusalInText, maxMessageLength } from '../../upstream/upstream-error.ts';
import type { EssayWriter } from '../essays.ts';

/*
 * Whether a response contains an essay. The service documents no shape, so an essay is recognized by what speaks for it, and
 * everything else is a failure that carries what was received.
 */

/** What was ordered, to recognize an echo of it. */
interface Ordered {
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
 * The essay in a response, or null. With status 200 or 201 and no sign of failure, it is the first of: the configured field,
 * prose in a field with a well-known name, the sections in their order, the only prose of the body, or a shorter text in a field
 * with a well-known name. An echo of what was sent does not count.
 * @param textField a dotted path; null: no field is configured
 */
export function readEssayText(
  { status, text, json }: Received,
  ordered: Ordered,
  textField: string | null,
): string | null {
  if (status !== 200 && status !== 201) return null;
  if (json === undefined)
    return /^\s*[<{[]|\b(?:traceback|stack trace)\b/i.test(text) || !isProse(text, ordered) ? null : text;
  if (countValues(json) > maxValues || failsSomewhere(json)) return null;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.trim() !== '' && !isFailureText(value) && !isEcho(value, ordered.description);
  const configured = textField?.split('.').reduce(readProperty, json);
  if (isText(configured)) return configured;
  const named = findNamed(json).filter(isText);
  const prose =
    named.find((value) => isProse(value, ordered)) ?? joinSections(json, ordered) ?? findOnlyProse(json, ordered);
  // A shorter text in a named field is an essay, too, unless it is a word such as "success".
  return prose ?? named.find((value) => countWords(value) > 2 || sentence.test(value)) ?? null;
}

/** What wrote the essay, as the self-hosted service reports it in `writer`. It speaks neither for an essay nor against it. */
export function readWriter(json: unknown): EssayWriter {
  const writer = readProperty(json, 'writer');
  if (writer === 'drafter') return 'DRAFTER';
  return writer === 'model' ? 'MODEL' : 'SERVICE';
}

/** The values of well-known fields, of the body and of the object in it. A bare text counts, too. */
function findNamed(json: unknown): unknown[] {
  const parents = [json, ...envelopes.map((name) => readProperty(json, name))];
  return parents.flatMap((parent) => [parent, ...essayFields.map((name) => readProperty(parent, name))]);
}

const essayFields = ['essay', 'essay_text', 'generated_essay', 'result', 'text', 'content'];
const envelopes = ['data', 'essay', 'result', 'response'];

/** A text somewhere in a body, and the name of its field or its index. */
interface Place {
  name: string;
  text: string;
}

/** Null if there is none, or several: they could be drafts, or something else than essays. A message is none. */
function findOnlyProse(json: unknown, ordered: Ordered): string | null {
  const places = listTexts(json);
  const isMessage = ({ name }: Place) => explanations.has(normalizeName(name));
  const isLong = ({ text }: Place) => countWords(text) >= minWords && !isEcho(text, ordered.description);
  // Beside a long message, even prose may explain a failure.
  if (places.some((place) => isMessage(place) && isLong(place))) return null;
  const [only, ...others] = places.filter((place) => !isMessage(place) && isProse(place.text, ordered));
  return only !== undefined && others.length === 0 ? only.text : null;
}

/** The texts of an essay that has its parts in fields of one object, or in a list, joined by empty lines, after its title. */
function joinSections(json: unknown, ordered: Ordered): string | null {
  const parents = [json, ...envelopes.map((name) => readProperty(json, name))];
  for (const parent of parents) {
    const sections = readProperty(parent, 'sections') ?? readProperty(parent, 'paragraphs') ?? parent;
    const parts = Array.isArray(sections) ? sections.map(readSection) : readNamedSections(sections);
    const title = readProperty(parent, 'title');
    const texts = parts.filter((part) => part !== null);
    if (texts.length < 2 || texts.length < parts.length) continue;
    const joined = [...(typeof title === 'string' ? [title] : []), ...texts].join('\n\n');
    if (isProse(joined, ordered) && hasAllSentences(joined, json, ordered)) return joined;
  }
  return null;
}

/** Whether no sentences of a body are missing in a text, other than an echo. */
function hasAllSentences(text: string, json: unknown, { description }: Ordered): boolean {
  return listTexts(json).every(
    (place) =>
      text.includes(place.text) ||
      countWords(place.text) < minWords ||
      !sentence.test(place.text) ||
      isEcho(place.text, description),
  );
}

/** A section of a list: a text, or an object with a text and perhaps a heading. Null if it is neither. */
function readSection(section: unknown): string | null {
  if (typeof section === 'string') return section;
  const heading = readProperty(section, 'heading') ?? readProperty(section, 'title');
  const text = essayFields.map((name) => readProperty(section, name)).find((value) => typeof value === 'string');
  if (typeof text !== 'string') return null;
  return typeof heading === 'string' ? `${heading}\n\n${text}` : text;
}

function readNamedSections(parent: unknown): (string | null)[] {
  if (typeof parent !== 'object' || parent === null) return [];
  return Object.entries(parent).flatMap(([name, value]) => {
    if (!sectionName.test(name)) return [];
    return Array.isArray(value) ? value.map(readSection) : [readSection(value)];
  });
}

const sectionName =
  /^(?:introduction|intro|body|main|main_?body|body_?paragraphs|paragraphs|conclusion|(?:section|paragraph|part)_?\d+)$/i;

function listTexts(json: unknown): Place[] {
  const places: Place[] = [];
  const add = (value: unknown, name: string, depth: number) => {
    if (typeof value === 'string') places.push({ name, text: value });
    if (typeof value !== 'object' || value === null || depth > maxDepth) return;
    for (const [childName, child] of Object.entries(value)) add(child, childName, depth + 1);
  };
  add(json, '', 0);
  return places;
}

function countValues(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + countValues(child, depth + 1), 1);
}

/** The body of an essay has fewer. */
const maxValues = 2_000;
/** Protects the stack from a deeply nested body. */
const maxDepth = 50;

/** Whether a text has sentences, and a tenth of the words that were ordered: a message has fewer. */
function isProse(text: string, { description, wordCount }: Ordered): boolean {
  const words = countWords(text);
  const isLong = words >= Math.max(minWords, wordCount / 10);
  return isLong && sentence.test(text) && !isFailureText(text) && !isEcho(text, description);
}

/** Words between spaces; in scripts without spaces, a word has about two characters. */
export function countWords(text: string): number {
  const letters = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Tibetan}]/gu,
  );
  return Math.max(text.match(/\S+/g)?.length ?? 0, Math.floor((letters?.length ?? 0) / 2));
}

const minWords = 8;
const sentence = /^[^\p{L}\n]*\p{L}[^\n]*(?:[.!?]['"”’)\]]*(?:\s|$)|[^\P{Sentence_Terminal}.!?])/mu;

/** Whether a text is what was sent, or little more or less than that. */
function isEcho(text: string, description: string): boolean {
  const [received, sent] = [normalizeText(text), normalizeText(description)];
  // The words of a short text may be in any description, and those of a short description in any essay.
  if (Math.min(received.length, sent.length) < minEchoLength) return false;
  if (sent.includes(received)) return true;
  return received.includes(sent) && received.length < 1.5 * sent.length;
}

const minEchoLength = 20;

function normalizeText(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Whether an object in a body says that something failed, or is not finished. */
function failsSomewhere(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return false;
  return Object.entries(value).some(([name, child]) => isFailureSign(name, child) || failsSomewhere(child, depth + 1));
}

function isFailureSign(fieldName: string, value: unknown): boolean {
  const name = normalizeName(fieldName);
  if (successes.has(name))
    return value === false || value === 0 || (typeof value === 'string' && /^(?:false|no|0)$/i.test(value));
  if (failures.has(name)) return !isEmpty(value);
  if (states.has(name)) return isFailureState(value);
  return explanations.has(name) && typeof value === 'string' && isFailureText(value);
}

function isFailureState(value: unknown): boolean {
  if (value === false) return true;
  if (typeof value === 'number') return value >= 400 || value === 202;
  if (typeof value !== 'string' || value.length > maxStateLength) return false;
  if (/complete|success|unlimited|no[ _-]error/i.test(value))
    return /not[ _-]complete|incomplete|unsuccess/i.test(value);
  return /^[45]\d\d\b|^202$/.test(value) || failureState.test(value);
}

/** Names of states are shorter. */
const maxStateLength = 60;
const failureState =
  /fail|error|denied|reject|unauth|forbidden|invalid|expired|exceed|quota|limit|timeout|cancel|abort|pending|queued|processing|progress|running|waiting|started|accepted|unavailable|filter|refusal|refused|^(?:ko|nok)$/i;

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === 0) return true;
  if (typeof value === 'string') return /^(?:0|no|none|false|null|)$/i.test(value.trim());
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** `errorCode`, `error_code` and `ERROR-CODE` are one name. */
function normalizeName(name = ''): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

const namesOf = (names: string): ReadonlySet<string> => new Set(names.split(', ').map(normalizeName));
const successes = namesOf('success, successful, succeeded, is success, ok, valid, done, completed, finished');
const states = namesOf('status, state, code, status code, status text, http status, finish reason, stop reason');
const failures = namesOf(
  'error, errors, err, is error, has error, has errors, error message, error code, failed, failure, fault, denied, ' +
    'exception, trace, traceback, stack, stack trace, task id, job id, poll url, status url',
);
const explanations = namesOf('message, msg, detail, details, reason, description, info, notice, token');

/** Whether a short text is a message of a service that did not write. An essay may be about quotas: it is longer. */
function isFailureText(text: string): boolean {
  if (text.length > maxMessageLength) return false;
  return findRefusalInText(text) !== null || failureMessage.test(text) || text.search(serverPath) !== -1;
}

const failureMessage =
  /^\s*(?:error|exception|failed|failure|forbidden|bad request|not found|unavailable|bad gateway|gateway time-?out)\s*(?:[:.!\d-]|$)|^[^.\n]{0,80}\b(?:is required|must be (?:an?|at|less|greater|one))\b[^\n]{0,40}$|\b(?:internal server error|service unavailable|something went wrong|please try again|try again later|could not (?:be )?generate|failed to generate|unable to generate|server error|an error occurred|request timed out|too many attempts|insufficient (?:funds|balance)|no remaining words|key not valid|limit has been reached)\b|\btraceback\b|\bexception in\b/i;
/** The path of a file on a server. */
const serverPath = /(?:[a-z]:\\|\\?\/(?:var|home|usr|app|srv|opt|root|etc|tmp|www|mnt|data)\\?\/)[^\s"',)]+/gi;

/** Without paths of a server's files, and without values that look like credentials. */
export function hideInternals(text: string): string {
  return text
    .replaceAll(serverPath, '[path]')
    .replaceAll(credentialValue, '$1[hidden]')
    .replaceAll(/(:\/\/)[^\s/@"]{1,200}@/g, '$1[hidden]@')
    .replaceAll(/(?<![\w-])eyJ[\w-]{1,4000}\.[\w-]*(?:\.[\w-]*)?/g, '[hidden]');
}

/** The name of a field or parameter that has credentials, and its value. */
const credentialValue =
  /((?<![\w-])"?[\w-]{0,40}(?:token|api[_-]?key|authorization|password|secret)[\w-]{0,40}["'\\]{0,4}\s{0,9}[:=]\s{0,9})(?:"(?:[^"\\]|\\.)*"|'[^']*'|["'\\]{0,4}(?:(?:bearer|basic|token)\s+)?[^"'\\\s,}]+)/gi;

export function readProperty(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}
