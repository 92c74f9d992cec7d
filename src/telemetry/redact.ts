export type Redact = (text: string) => string;

/**
 * Redacts logs and errors: the given secrets in any case, also escaped and encoded, and everything that looks like an IBAN.
 * @example
 * const redact = createRedact(['k3y/of-banks']);
 * redact('GET /check?iban=DE89%203704%200044%200532%200130%2000') // => 'GET /check?iban=[IBAN]'
 * redact('key k3y/of-banks, ?key=k3y%2Fof-banks, {"key":"k3y\\/of-banks"}') // => 'key [hidden], ?key=[hidden], {"key":"[hidden]"}'
 * redact('the key K3Y/OF-BANKS') // => 'the key [hidden]'
 * redact(Buffer.from('k3y/of-banks').toString('base64')) // => '[hidden]'
 */
export function createRedact(secrets: readonly string[]): Redact {
  const redactSecrets = createReplacement(secrets.flatMap(listSecretForms));
  return (text) => redactIbans(redactSecrets(text));
}

/**
 * Redacts everything that looks like an IBAN: IBANs are personal data.
 * @example
 * redactIbans('de89 3704-0044.0532 0130 00 is refused') // => '[IBAN] is refused'
 * redactIbans('trace ba7651916cd43dd8448eb211c80319c0') // => 'trace ba7651916cd43dd8448eb211c80319c0'
 */
export function redactIbans(text: string): string {
  return text.replace(idOrIbanLike, (_, id: string | undefined) => id ?? '[IBAN]');
}

/** Redacts the secrets in a text. */
export interface RedactSecrets {
  /** @param isTruncated whether the text may end within a secret */
  (text: string, isTruncated?: boolean): string;
  /** Whether neither the text nor, if it is JSON, any of its strings can contain a secret. Most texts are clean. */
  isClean(text: string): boolean;
}

/**
 * Redacts secrets, but not IBANs, in upstream responses, which are returned to clients. Secrets shorter than 8 characters
 * are not redacted: a key such as "test" would remove words from essays.
 * @example
 * const redact = createSecretRedaction(['seeded-key']);
 * redact('The key seeded-key is unknown.') // => 'The key [hidden] is unknown.'
 * redact('The response was cut off: see', true) // => 'The response was cut off: see'
 * redact('The response was cut off: seeded-k', true) // => 'The response was cut off: [hidden]'
 * redact.isClean('{"key":"seeded-key"}') // => false
 */
export function createSecretRedaction(secrets: readonly string[]): RedactSecrets {
  const forms = secrets.filter((secret) => secret.length >= 8).flatMap(listSecretForms);
  const redactSecrets = createReplacement(forms);
  const redactPrefix = createPrefixReplacement(forms);
  const redact = (text: string, isTruncated = false) =>
    isTruncated ? redactPrefix(redactSecrets(text)) : redactSecrets(text);
  return Object.assign(redact, { isClean: createCleanCheck(forms) });
}

/**
 * Redacts all strings of a parsed JSON value in place, names included: only there are all escapes of the response decoded.
 * @example
 * redactStrings({ 'DE89370400440532013000': [1, 'ok'] }, redactIbans) // => { '[IBAN]': [1, 'ok'] }
 */
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

/** Most texts contain no escapes: they are searched for the plain forms only, and the patterns are created when one is suspicious. */
function createReplacement(forms: readonly SecretForm[]): Redact {
  let patterns: RegExp[] | undefined;
  const minLength = Math.min(...forms.flatMap(({ plain }) => plain.map(({ length }) => length)));
  const suspicious = createSearch(forms);
  return (text) => {
    if (text.length < minLength || !suspicious.test(text)) return text;
    patterns ??= forms.map(createPattern);
    return patterns.reduce((rest, pattern) => rest.replace(pattern, hidden), text);
  };
}

/**
 * A string that JSON encodes without escapes is in the text as it is. A number is not: 1e7 is 10000000. So secrets that
 * need escapes, or that are numbers, are looked for in every parsed value.
 */
function createCleanCheck(forms: readonly SecretForm[]): (text: string) => boolean {
  const plain = forms.flatMap((form) => form.plain);
  const isSearchable = plain.every((form) => JSON.stringify(form) === `"${form}"` && !isNumberText.test(form));
  const suspicious = createSearch(forms);
  return (text) => isSearchable && !suspicious.test(text);
}

const isNumberText = /^[\d.eE+-]+$/;

/** Redacts the beginning of a secret, of at least 4 characters, at the end of the text, which may also end within an escape. */
function createPrefixReplacement(forms: readonly SecretForm[]): Redact {
  const maxLength = maxEscapedLength * Math.max(0, ...forms.map(({ characters }) => characters.length));
  let patterns: RegExp[] | undefined;
  return (text) => {
    patterns ??= forms.map(createPrefixPattern);
    const start = Math.max(0, text.length - maxLength);
    const end = text.slice(start);
    return text.slice(0, start) + patterns.reduce((rest, pattern) => rest.replace(pattern, hidden), end);
  };
}

function createPrefixPattern({ characters, casesOf }: SecretForm): RegExp {
  const sources = characters.map((character) => characterSource(casesOf(character)));
  const beginning = sources.slice(0, minPrefixLength).join('');
  const optionalRest = sources.slice(minPrefixLength).reduceRight((rest, source) => `(?:${source}${rest})?`, '');
  return new RegExp(`${beginning}${optionalRest}${partialEscape}$`);
}

/** The start of an escape that is cut off at the end of a text; also matches nothing. */
const partialEscape = /(?:\\{0,8}(?:u[0-9a-fA-F]{0,3})?|%(?:25?){0,4}[0-9a-fA-F]?)/.source;
const hidden = '[hidden]';
const minPrefixLength = 4;
/** The longest escape of one character: a \\u0063 whose backslash is escaped again. */
const maxEscapedLength = 12;

/** One way in which a response or a log line may contain a secret: as it is, or in base64 or base64url. */
interface SecretForm {
  /** The form without further escapes. */
  plain: readonly string[];
  characters: readonly string[];
  /** The cases in which a character may be. Another case of base64 would encode another text. */
  casesOf: CasesOf;
}

type CasesOf = (character: string) => readonly string[];

function listSecretForms(secret: string): SecretForm[] {
  if (secret === '') return [];
  const asJson = JSON.stringify(secret).slice(1, -1);
  const forms: SecretForm[] = [{ plain: [...new Set([secret, asJson])], characters: [...secret], casesOf: listCases }];
  for (const base64 of listBase64(secret)) {
    const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
    forms.push({ plain: [...new Set([base64, base64url])], characters: [...base64], casesOf: base64CasesOf });
  }
  return forms;
}

/** Turkish letters, too: there, `i` becomes `İ`, and `I` becomes `ı`. */
function listCases(character: string): string[] {
  const cases = [character.toLowerCase(), character.toUpperCase()];
  return [...new Set([character, ...cases, character.toLocaleLowerCase('tr'), character.toLocaleUpperCase('tr')])];
}

/** The character itself; in base64url, two others replace `+` and `/`. */
function base64CasesOf(character: string): string[] {
  if (character === '+') return ['+', '-'];
  return character === '/' ? ['/', '_'] : [character];
}

/** `\/`, `\u0063` or `%2F`, but not the escapes of control characters and quotes, nor the `\\d` of a regular expression. */
const escapeSource = /\\(?:[uU][0-9a-fA-F]{4}|[^A-Za-z0-9"\\])|%[0-9a-fA-F]{2}/.source;
/** Shorter ones occur in ordinary words. */
const minBase64Length = 8;

/** The secret within longer encoded bytes begins at any of three offsets; characters that encode neighbouring bytes are left out. */
function listBase64(secret: string): string[] {
  return [0, 1, 2]
    .map((offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
      return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    })
    .filter(({ length }) => length >= minBase64Length);
}

/** Finds the form, any of whose characters may be escaped as in JSON or a URL. */
function createPattern({ characters, casesOf }: SecretForm): RegExp {
  // A run of backslashes is read only from its beginning: a text of nothing else takes no more time than others.
  const first = characterSource(casesOf(characters[0] ?? ''), String.raw`(?<!\\)\\+`);
  const rest = characters.slice(1).map((character) => characterSource(casesOf(character)));
  return new RegExp(first + rest.join(''), 'g');
}

/**
 * The character in any of these cases: itself, after backslashes, as `\u0063` and percent-encoded. Escapes may be escaped
 * again, three or four times: without a limit, the time would be quadratic in the length of the text.
 */
function characterSource(cases: readonly string[], backslashes = String.raw`\\{1,8}`): string {
  const sources = cases.map((character) => {
    const units = Array.from({ length: character.length }, (_, index) => hexSource(character.charCodeAt(index), 4));
    const bytes = [...Buffer.from(character)].map((byte) => `%(?:25){0,4}${hexSource(byte, 2)}`);
    const letter = /^\\([bfnrt])$/.exec(JSON.stringify(character).slice(1, -1))?.[1];
    const escaped = [units.map((unit) => `${backslashes}u${unit}`).join(''), bytes.join('')];
    if (letter) escaped.push(`${backslashes}${letter}`);
    // A letter or digit after a backslash would be another character.
    escaped.push(/[A-Za-z0-9]/.test(character) ? character : `(?:${backslashes})?${quote(character)}`);
    return escaped.join('|');
  });
  return `(?:${sources.join('|')})`;
}

function hexSource(code: number, digits: number): string {
  return code
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function quote(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\$&`);
}

/** Finds one of the plain forms, or an escape that makes a text differ from them. JSON escapes such as `\n` do not. */
function createSearch(forms: readonly SecretForm[]): RegExp {
  const sources = forms.flatMap(({ plain, casesOf }) =>
    plain.map((form) => [...form].map((character) => plainSource(casesOf(character))).join('')),
  );
  return new RegExp([escapeSource, ...sources].join('|'));
}

/** A class takes less time than alternatives or the flag `i`, but holds only characters of one UTF-16 unit. */
function plainSource(cases: readonly string[]): string {
  const isClass = cases.every(({ length }) => length === 1);
  return isClass ? `[${cases.map(quote).join('')}]` : `(?:${cases.map(quote).join('|')})`;
}

/** Start of a word, also after an escaped character in JSON, such as \n, or a percent-encoded one. */
const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const wordEnd = '(?![A-Za-z0-9])';
/** Separators between the groups of an IBAN, as people and URLs write them; no word of letters follows. */
const separator = '(?:[ \\t\\u00a0\\u2009\\u202f+./_-]|%20|\\\\t)';
const gap = `(?:${separator}{1,2}(?![A-Za-z]{5,}${wordEnd}))?`;
const group = `${gap}[A-Za-z0-9]{4}`;
/** The shortest IBANs are Norwegian and have 15 characters. */
const ibanLike = `[A-Za-z]{2}${gap}\\d{2}(?:(?:${group}){3,7}(?:${gap}[A-Za-z0-9]{1,3})?|(?:${group}){2}${gap}[A-Za-z0-9]{3})`;
/**
 * Ids of requests, traces and documents can look like an IBAN, so they are matched first and skipped: they must stay
 * readable. No country's IBANs are 32 hexadecimal digits.
 */
const id = '(?<id>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{32})';
const idOrIbanLike = new RegExp(`${wordStart}(?:${id}|${ibanLike})${wordEnd}`, 'g');
