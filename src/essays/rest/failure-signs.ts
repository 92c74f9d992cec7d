import { findRefusalInText, maxMessageLength } from '../../upstream/upstream-error.ts';

/*
 * What a response with a good status says if the service did not write an essay: in fields with the usual names, or in a message.
 */

export interface Field {
  /** Normalized; in a list, that of the list. */
  name: string;
  value: unknown;
  /** The object or list that has it. */
  parent: unknown;
}

/** Whether a field says that something failed or is not finished. */
export function isFailureSign({ name, value, parent }: Field): boolean {
  if (successes.has(name)) return value === false || value === 0 || (typeof value === 'string' && no.test(value));
  if (failures.has(name)) return !isEmpty(value);
  if (states.has(name)) return isFailureState(value);
  if (tasks.has(name)) return !isEmpty(value) && !hasFinished(parent);
  return messages.has(name) && typeof value === 'string' && isFailureText(value);
}

/** Whether a field has what the service has to say about the request. It is never the essay. */
export function isMessageField(name: string): boolean {
  return messages.has(name);
}

/** `errorCode`, `error_code` and `ERROR-CODE` are one name. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** A set of normalized names. */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(', ').map(normalizeName));
}

const no = /^(?:false|no|0)$/i;
const successes = namesOf('success, successful, succeeded, is success, ok, valid, is valid, done, completed, finished');
const states = namesOf(
  'status, state, code, status code, status text, http status, http code, response code, result code, return code, ' +
    'ret code, task status, job status, ack, finish reason, stop reason, done reason',
);
const failures = namesOf(
  'error, errors, err, is error, has error, has errors, error message, error msg, error code, error type, ' +
    'error description, error details, err code, err msg, err no, failed, failure, fault, denied, refusal, refused, ' +
    'rejected, blocked, block reason, flagged, exception, trace, traceback, stack, stack trace',
);
const tasks = namesOf('task id, job id, poll url, status url');
const messages = namesOf(
  'message, msg, detail, details, reason, info, notice, note, notes, hint, warning, warnings, disclaimer, token',
);

function isFailureState(value: unknown): boolean {
  if (value === false) return true;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (text.length > maxStateLength) return false;
  if (finished.test(text) || /unlimited|no[ _-]error/i.test(text))
    return /not[ _-]complete|incomplete|unsuccess/i.test(text);
  // Some services have more digits for their own codes, and 10000 or 20000 for success.
  return /^(?:-\d+|202|[45]\d\d(?:\d\d)?)\b/.test(text) || failureState.test(text);
}

/** Names of states are shorter. */
const maxStateLength = 60;
const finished = /complete|success|succeeded|finished/i;
const failureState =
  /fail|error|denied|reject|unauth|forbidden|invalid|expired|exceed|quota|limit|timeout|cancel|abort|pending|queue|processing|progress|running|waiting|start|scheduled|accepted|unavailable|filter|refuse|refusal|block|safety|recitation|prohibited|^(?:ko|nok)$/i;

/** A finished task has an identifier, too. */
function hasFinished(parent: unknown): boolean {
  return Object.entries(parent ?? {}).some(
    ([name, value]) => states.has(normalizeName(name)) && typeof value === 'string' && finished.test(value),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === 0) return true;
  if (typeof value === 'string') return /^(?:0|no|none|no error|false|null|ok|success|)$/i.test(value.trim());
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}

/** Whether a text is what a service sends in place of an essay: a failure, a note about the order, a trace, or a page for a browser. */
export function isServiceText(text: string): boolean {
  return isFailureText(text) || trace.test(text) || htmlDocument.test(text) || (isShort(text) && note.test(text));
}

function isFailureText(text: string): boolean {
  if (!isShort(text)) return false;
  if (findRefusalInText(text) !== null || text.search(serverPath) !== -1) return true;
  return failureMessages.some((message) => message.test(text));
}

/** An essay about quotas is longer. */
function isShort(text: string): boolean {
  return text.length <= maxMessageLength;
}

const failureMessages: readonly RegExp[] = [
  /^\s*(?:error|exception|failed|failure|forbidden|bad request|not found|unavailable|bad gateway|gateway time-?out)\s*(?:[:.!\d-]|$)/i,
  // A field of the order is missing or wrong.
  /^[^.\n]{0,80}\b(?:is required|must be (?:an?|at|less|greater|one))\b[^\n]{0,40}$/i,
  /\b(?:no remaining words|not enough words)\b/i,
  // A language model refuses.
  /\b(?:sorry|apologize|apologise)\b[^.!?]{0,40}\b(?:can['’]?t|cannot|can not|unable|not able|won['’]t)\b|\bI (?:cannot|can['’]?t|can not|won['’]t|am unable to|am not able to) (?:assist|write|create|produce|provide|generate|fulfil|comply)|\bas an AI (?:language )?(?:model|assistant)\b/i,
];

/** About the order. Beside an essay, it does not mean a failure. */
const note =
  /\byour (?:order|request|essay|account|query)\b[^.!?]{0,40}\b(?:is|was|has|will)\b|\bthank you for your (?:order|request|patience)\b|\bupgrade to\b/i;
/** At the beginning of a text. An essay about programming may quote one. */
const trace =
  /^[^\n]{0,200}(?:\btraceback \(most recent call|\bPHP (?:fatal|parse) error|\bstack ?trace:\s{0,9}(?:#0|at )|\w{0,60}(?:error|exception)\b[^\n]{0,300}\n[ \t]{1,20}at [^\n]{1,200}[:(])/i;
const htmlDocument = /^\s*(?:<\?xml|<!doctype|<(?:html|head|body|title)\b)/i;

/** The path of a file on a server. */
const serverPath =
  /(?:[a-z]:\\|\\?\/(?:var|home|usr|users|app|srv|opt|root|etc|tmp|www|mnt|data|code|workspace|private|function|nix|lib)\\?\/)[^\s"',)]+/gi;

/** Without paths of a server's files, and without values that look like credentials. */
export function hideInternals(text: string): string {
  return text
    .replaceAll(serverPath, '[path]')
    .replaceAll(credentialValue, '$1[hidden]')
    .replaceAll(/(:\/\/)[^\s/@"]{1,200}@/g, '$1[hidden]@')
    .replaceAll(keyValue, '[hidden]');
}

// cspell:ignore opsu AKIA
/** Tokens and keys with well-known beginnings, such as a JWT. */
const keyValue =
  /(?<![\w-])(?:eyJ[\w-]{1,4000}\.[\w-]*(?:\.[\w-]*)?|(?:sk|pk|rk|hf|gh[opsu]|xox[abp])[-_][\w-]{8,200}|AKIA[A-Z\d]{16}|AIza[\w-]{30,50})|(?<=\bbearer )(?=[^\s\d]{0,200}\d)[\w.~+/=-]{6,}/gi;

/** The name of a field or parameter that has credentials, and its value. */
const credentialValue =
  /((?<![\w-])"?[\w-]{0,40}(?:token|api[ _-]?key|access_?key|private_?key|authorization|cookie|session_?id|password|passwd|passphrase|pwd|secret)[\w-]{0,40}["'\\]{0,4}\s{0,9}[:=]\s{0,9})(?:"(?:[^"\\]|\\.)*"|'[^']*'|["'\\]{0,4}(?:(?:bearer|basic|token)\s+)?[^"'\\\s,}]+)/gi;
