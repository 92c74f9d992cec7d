import { findRefusalInText, maxMessageLength } from '../../upstream/upstream-error.ts';

/* What is guessed of a response whose format is not documented; nothing of fields that are declared (ESSAY_TEXT_FIELD, ESSAY_ERROR_FIELD). */

/** What a field is for, by its name in lower case without signs, and when its value says that the order failed. The first row decides. */
const purposes: readonly [purpose: string, names: RegExp, saysFailure?: (value: unknown) => boolean][] = [
  ['success', /^(?:is)?(?:success(?:ful)?|succeeded|ok|valid|done|completed|finished)$/, isNo],
  ['state', /^(?:(?:task|job)?stat(?:us|e)|ack|(?:http|status|response|result|ret(?:urn)?)?code)$/, isFailureState],
  ['state', /^(?:finish|stop|done|completion)reason$/, isFailureState],
  ['failure', /^(?:is|has)?(?:err|exception|fail|fault|denied|refusal|refused|reject|stack)/, hasValue],
  ['failure', /^(?:flagged|block(?:ed|reason)|trace(?:back)?)$/, hasValue],
  ['message', /^(?:(?:status|result|ret)?(?:message|msg)|details?|reason|info|warnings?)$/, isRefusal],
  ['message', /^(?:notice|notes?|hint|disclaimer)$/, isRefusal],
  ['title', /^(?:sub)?(?:title|heading|headline)$/],
  ['sent', /prompt|^(?:description|inputs?|query|question|request|instructions?|params|parameters|topic)$/],
  ['aside', /^(?:think|thought|reason|analysis|reference|citation|source|bibliography|footnote|outline|annotation)/],
  ['aside', /^(?:feedback|suggestion|tips|summary|abstract|excerpt|preview|keywords|plagiarism|grammar|safety)/],
  ['aside', /^(?:usage|meta|check|logs)/],
  ['label', /id$|^(?:type|kind|object|model|role|event|language|lang|mode|ur[il]|href|version|format|created)$/],
];

/** `text` for a name in no row. */
export function purposeOf(key: string) {
  const name = normalizeName(key);
  for (const [purpose, names, saysFailure] of purposes) if (names.test(name)) return { purpose, saysFailure };
  return { purpose: 'text' };
}

/** `errorCode`, `error_code` and `ERROR-CODE` are one name. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Names of the field with the essay, the most certain first; '' is a body that is a text. */
const textNames: readonly RegExp[] = [
  ...[/^essay$/, /essay/, /^text$/, /^content$/, /^output(?:text)?$/, /^result$/],
  ...[/^(?:generated|full|final|plain)(?:text|content|output|answer)$/, /^(?:response|answer|completion|reply|data)$/],
  /^$|text|content|output|result|generated|response|answer|article|paper|document|draft|body|story|delta|chunk|token|value|plain/,
  /markdown|html|translation|message/,
];

/** The position of a field among those that may have the essay; `unknownRank` if its name says nothing about that. */
export function rankOf(name: string): number {
  for (const [rank, names] of textNames.entries()) if (names.test(name)) return rank;
  return unknownRank;
}

export const unknownRank = textNames.length;

/** Fields of one object that are the parts of an essay. */
export const sectionName =
  /^(?:intro|introduction|thesis|hook|main|(?:main)?body|(?:body)?paragraphs|(?:counter)?arguments?|conclusion|(?:p|section|part|para(?:graph)?|(?:main)?body(?:paragraph)?|argument|chapter|point)?\d+)$/;
/** A list with this name has several essays, of which the first is taken; any other has the parts of one. */
export const alternativesName = /^(?:choices|candidates|generations|predictions|drafts|versions|variants|essays)$/;

/** Whether an object is a message of another role, or the reasoning of a model. */
export function isAside(value: unknown): boolean {
  const { role, type, thought } = (value ?? {}) as Record<string, unknown>;
  const isThought = thought === true || (typeof type === 'string' && /think|thought|reason/.test(type));
  return isThought || (typeof role === 'string' && /^(?:user|system|developer|tool)$/.test(role));
}

function isNo(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === 'string' && /^(?:false|no|0)$/i.test(value));
}

function isRefusal(value: unknown): boolean {
  return typeof value === 'string' && findRefusalInText(value) !== null;
}

/** Other than one that means nothing, such as `0`, `[]` or `No error`. */
export function hasValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasValue);
  return Boolean(value) && !/^(?:\s*|0+|-|no|none|no errors?\b.*|false|null|n\/a|ok|success)$/i.test(String(value));
}

function isFailureState(value: unknown): boolean {
  if (typeof value === 'object') return false;
  const text = String(value);
  // Some services have more digits for their own codes, and 10000 or 20000 for success.
  if (/^(?:-\d+|202|[45]\d\d(?:\d\d)?)\b/.test(text) || failures.test(text)) return true;
  return text.length < 60 && !/complete|success|succeed|finished|no[ _-]error/i.test(text) && failureStates.test(text);
}

const failures = /^(?:false|ko|nok)$|(?:in|not[ _-])complete|unsuccessful/i;
const failureStates =
  /fail|error|denied|reject|unauth|forbidden|invalid|expired|exceed|quota|limit|timeout|cancel|abort|pending|queue|process|progress|running|waiting|start|scheduled|accepted|unavailable|filter|refuse|refusal|block|safety|recitation|prohibited/i;

/** Whether a text is a message in place of an essay, or a note about the order. */
export function isMessage(text: string): boolean {
  return text.length <= maxMessageLength && (isRefusal(text) || note.test(text));
}

const note =
  /\byour (?:order|request|essay|account|query)\b[^.!?]{0,40}\b(?:is|was|has|will)\b|\bthank you for your (?:order|request|patience)\b/i;

/** Whether a text is none, in any field: data that was cut off, a trace, or what a language model says in place of an essay. */
export function isNoProse(text: string): boolean {
  for (const row of noProse) if (row.test(text)) return true;
  return false;
}

const noProse: readonly RegExp[] = [
  /^\s*(?:\{|\[\s*["{[]|%PDF-|PK\p{Cc}|(?:event|id|retry|status|error|code|message):)/u,
  /^[^\n]{0,200}(?:\btraceback \(most recent call|\bPHP (?:fatal|parse) error)/i,
  /^[^\n]{0,300}(?:error|exception)\b[^\n]{0,300}\n\s{1,20}at |(?:\n\s{1,20}at [\w.$<>]{1,200}[.(][^\n]*){2}/i,
  /^\W*(?:I['’]?m |I am )?(?:so |very |truly )?(?:sorry|I apologize|I apologise)\b[^.!?]{0,60}\b(?:can['’]?t|cannot|can not|unable|not able|won['’]t)\b/i,
  /^\W*(?:unfortunately, )?I (?:cannot|can['’]?t|can not|won['’]t|am unable to|am not able to) ?(?:assist|help|write|create|produce|provide|generate|fulfil|comply)/i,
  /^\W*as an AI\b[^.!?]{0,200}\b(?:not|cannot|can['’]t|unable)\b/i,
  /^\W*(?:before I (?:begin|start|write)|(?:could|can) you (?:please )?(?:provide|clarify|tell|specify))\b[^.]{0,200}(?:\?|\bI\b)/i,
];
