import { createSearch, listSecretForms, partialEscape, type SecretForm } from './secret-forms.ts';

export type Redact = (text: string) => string;

/** For logs and errors: redacts the given secrets, escaped and encoded ones included, and everything that looks like an IBAN. */
export function createRedact(secrets: readonly string[]): Redact {
  const redactSecrets = createReplacement(secrets);
  return (text) => redactIbans(redactSecrets(text));
}

/** Redacts the secrets in a text. */
export interface RedactSecrets {
  /** @param isTruncated whether the text may end within a secret */
  (text: string, isTruncated?: boolean): string;
  /** Whether neither the text nor, if it is JSON, any of its strings can contain a secret. Most texts are clean. */
  isClean(text: string): boolean;
}

/**
 * For upstream responses, which are returned to clients: redacts secrets but not IBANs. Secrets shorter than 8 characters
 * are not redacted: a key such as "test" would remove words from essays.
 */
export function createSecretRedaction(secrets: readonly string[]): RedactSecrets {
  const long = secrets.filter((secret) => secret.length >= 8);
  const redactSecrets = createReplacement(long);
  const redactPrefix = createPrefixReplacement(long);
  const redact = (text: string, isTruncated = false) =>
    isTruncated ? redactPrefix(redactSecrets(text)) : redactSecrets(text);
  return Object.assign(redact, { isClean: createCleanCheck(long) });
}

/** Redacts all strings of a parsed JSON value in place, names included: only there are all escapes of the response decoded. */
export function redactStrings(value: unknown, redact: Redact): unknown {
  const root = { value };
  // Not recursive: a response may be nested more deeply than the stack allows.
  const pending: object[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const [name, child] of Object.entries(node)) {
      const redacted = redactValue(child, redact);
      const newName = Array.isArray(node) ? name : redact(name);
      if (newName !== name) Reflect.deleteProperty(node, name);
      if (newName !== name || redacted !== child) Reflect.set(node, newName, redacted);
      if (typeof child === 'object' && child !== null) pending.push(child);
    }
  }
  return root.value;
}

/** A secret of digits may be returned as a number. */
function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = String(value);
  const redacted = redact(text);
  return redacted === text ? value : redacted;
}

/** The forms of the secrets are computed once. Most texts contain no escapes, and then only plain strings are searched for. */
function createReplacement(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap(listSecretForms);
  const plain = forms.flatMap((form) => form.plain);
  const minLength = Math.min(...plain.map(({ length }) => length));
  const suspicious = createSearch(plain);
  return (text) => {
    if (text.length < minLength || !suspicious.test(text)) return text;
    return forms.reduce((rest, { pattern }) => rest.replace(pattern, hidden), text);
  };
}

/**
 * A string that JSON encodes without escapes is in the text as it is. A number is not: 1e7 is 10000000. So secrets that
 * need escapes, or that are numbers, are looked for in every parsed value. One search for all is the fastest.
 */
function createCleanCheck(secrets: readonly string[]): (text: string) => boolean {
  const plain = secrets.flatMap(listSecretForms).flatMap((form) => form.plain);
  const isSearchable = plain.every((form) => JSON.stringify(form) === `"${form}"` && !isNumberText.test(form));
  const suspicious = createSearch(plain);
  return (text) => isSearchable && !suspicious.test(text);
}

const isNumberText = /^[\d.eE+-]+$/;

/** Redacts the beginning of a secret, of at least 4 characters, at the end of the text. */
function createPrefixReplacement(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap(listSecretForms);
  const maxLength = maxEscapedLength * Math.max(0, ...forms.map(({ characters }) => characters.length));
  return (text) => {
    for (let start = Math.max(0, text.length - maxLength); start < text.length; start += 1) {
      if (forms.some((form) => endsWithin(form, text, start))) return text.slice(0, start) + hidden;
    }
    return text;
  };
}

/** Whether the text from `start` is the beginning of the form and then ends, possibly within an escape. */
function endsWithin({ characters }: SecretForm, text: string, start: number): boolean {
  let end = start;
  let matched = 0;
  for (const character of characters) {
    character.lastIndex = end;
    if (!character.test(text)) break;
    end = character.lastIndex;
    matched += 1;
  }
  return matched >= minPrefixLength && text.length - end <= maxEscapedLength && partialEscape.test(text.slice(end));
}

const hidden = '[hidden]';
const minPrefixLength = 4;
/** Of one character: a \\u0063 whose backslash is escaped again. */
const maxEscapedLength = 12;

/** Redacts everything that looks like an IBAN: IBANs are personal data. */
export function redactIbans(text: string): string {
  return text.replace(idOrIbanLike, (_, id: string | undefined) => id ?? '[IBAN]');
}

/** Start of a word, also after an escaped character in JSON, such as \n, or a percent-encoded one. */
const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const wordEnd = '(?![A-Za-z0-9])';
/** Separators between the groups of an IBAN, as people and URLs write them; no word of letters follows. */
const separator = '(?:[ \\t\\u00a0\\u2009\\u202f+./_-]|%20|\\\\t)';
const gap = `(?:${separator}{1,2}(?![A-Za-z]{5,}${wordEnd}))?`;
const group = `${gap}[A-Za-z0-9]{4}`;
/** The shortest IBANs, those of Norway, have 15 characters. */
const ibanLike = `[A-Za-z]{2}${gap}\\d{2}(?:(?:${group}){3,7}(?:${gap}[A-Za-z0-9]{1,3})?|(?:${group}){2}${gap}[A-Za-z0-9]{3})`;
/**
 * Ids of requests, traces and documents can look like an IBAN, so they are matched first and skipped: they must stay
 * readable. No country's IBANs are 32 hexadecimal digits.
 */
const id = '(?<id>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{32})';
const idOrIbanLike = new RegExp(`${wordStart}(?:${id}|${ibanLike})${wordEnd}`, 'g');
