/** One way in which a response or a log line may contain a secret: as it is, or in base64 or base64url. */
export interface SecretForm {
  /** The form without further escapes, to be searched for with `includes`. */
  plain: readonly string[];
  /** Finds the form, any of whose characters may be escaped as in JSON or a URL. */
  pattern: RegExp;
  /** Of each character, sticky. */
  characters: readonly RegExp[];
}

/** Finds one of the plain forms, or an escape that makes a text differ from them. JSON escapes such as `\n` do not. */
export function createSearch(plain: readonly string[]): RegExp {
  return new RegExp([escapeSource, ...plain.map(quoteText)].join('|'));
}

/** The start of an escape that is cut off at the end of a text; also matches nothing. */
export const partialEscape = /^(?:\\*(?:u[0-9a-f]{0,3})?|%(?:25?)*[0-9a-f]?)$/i;

export function listSecretForms(secret: string): SecretForm[] {
  if (secret === '') return [];
  const asJson = JSON.stringify(secret).slice(1, -1);
  const forms = [createForm([...new Set([secret, asJson])], [...secret], characterSource)];
  for (const base64 of listBase64(secret)) {
    const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
    forms.push(createForm([...new Set([base64, base64url])], [...base64], base64Source));
  }
  return forms;
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

function createForm(plain: string[], text: string[], sourceOf: typeof characterSource): SecretForm {
  const sources = text.map((character) => sourceOf(character));
  const characters = sources.map((source) => new RegExp(source, 'y'));
  // A run of backslashes is read only from its beginning: a text of nothing else takes no more time than others.
  const first = sourceOf(text[0] ?? '', String.raw`(?<!\\)\\+`);
  return { plain, pattern: new RegExp(first + sources.slice(1).join(''), 'g'), characters };
}

function base64Source(character: string, backslashes?: string): string {
  const source = characterSource(character, backslashes);
  if (character === '+') return `(?:-|${source})`;
  return character === '/' ? `(?:_|${source})` : source;
}

/**
 * The character itself, after backslashes, as `\u0063` and percent-encoded. Escapes may be escaped again, three or four
 * times: without a limit, the time would be quadratic in the length of the text.
 */
function characterSource(character: string, backslashes = String.raw`\\{1,8}`): string {
  const units = Array.from({ length: character.length }, (_, index) => hexSource(character.charCodeAt(index), 4));
  const bytes = [...Buffer.from(character)].map((byte) => `%(?:25){0,4}${hexSource(byte, 2)}`);
  const letter = /^\\([bfnrt])$/.exec(JSON.stringify(character).slice(1, -1))?.[1];
  const sources = [units.map((unit) => `${backslashes}u${unit}`).join(''), bytes.join('')];
  if (letter) sources.push(`${backslashes}${letter}`);
  // A letter or digit after a backslash would be another character.
  sources.push(/[A-Za-z0-9]/.test(character) ? character : `(?:${backslashes})?${quote(character)}`);
  return `(?:${sources.join('|')})`;
}

function hexSource(code: number, digits: number): string {
  return code
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function quoteText(text: string): string {
  return [...text].map(quote).join('');
}

function quote(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, String.raw`\$&`);
}
