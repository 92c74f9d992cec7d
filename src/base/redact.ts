export type Redact = (text: string) => string;

/**
 * Redacts logs and errors: the given secrets, in any case, plain, JSON-escaped, percent-encoded or in base64, and everything that
 * looks like an IBAN.
 * @example
 * const redact = createRedact(['k3y/of-banks']);
 * redact('GET /check?iban=DE89%203704%200044%200532%200130%2000') // => 'GET /check?iban=[IBAN]'
 * redact('key k3y/of-banks, ?key=k3y%2Fof-banks, {"key":"k3y\\/of-banks"}') // => 'key [hidden], ?key=[hidden], {"key":"[hidden]"}'
 * redact('the key K3Y/OF-BANKS') // => 'the key [hidden]'
 * redact(Buffer.from('k3y/of-banks').toString('base64')) // => '[hidden]'
 */
export function createRedact(secrets: readonly string[]): Redact {
  return createRedactions(secrets).redact;
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

/**
 * Redacts the secrets in a text. The result of JSON remains JSON, unless a number was a secret.
 * @param isTruncated whether the text may end within a secret
 */
export type RedactSecrets = (text: string, isTruncated?: boolean) => string;

const isLong = (secret: string) => secret.length >= 8;

/**
 * `redact` is for logs and errors. `redactSecrets` is for responses of upstreams, which are returned to clients: IBANs remain, and so do
 * secrets shorter than 8 characters, as a key such as "test" would remove words from essays. A secret can be added later, as a replaced
 * key stays hidden; the oldest of many added ones are forgotten.
 * @example
 * const { redactSecrets } = createRedactions(['seeded-key']);
 * redactSecrets('The key seeded-key is unknown.') // => 'The key [hidden] is unknown.'
 * redactSecrets('The response was cut off: seeded-k', true) // => 'The response was cut off: [hidden]'
 */
export function createRedactions(secrets: readonly string[]) {
  const ofAll = createReplacement(secrets);
  const ofLong = createReplacement(secrets.filter(isLong));
  let added: string[] = [];
  return {
    redact: (text: string) => redactIbans(ofAll.replace(text)),
    redactSecrets: ofLong.replace,
    add(secret: string): void {
      added = [...added.filter((other) => other !== secret), secret].slice(-maxAdded);
      ofAll.use([...secrets, ...added]);
      ofLong.use([...secrets, ...added].filter(isLong));
    },
  };
}

/** Each one makes every redaction slower. */
const maxAdded = 20;

/** The forms of secrets are looked for in decoded texts. */
function createReplacement(firstSecrets: readonly string[]) {
  let search = createSearch(firstSecrets);
  const replace: RedactSecrets = (text, isTruncated) => {
    if (search === null) return text;
    const { pattern, prefix, escapes } = search;
    // Most texts have neither, and are searched once.
    const mayBeEscaped = text.includes('\\') || text.includes('%');
    const isEscaped = mayBeEscaped && escapes.test(text);
    const redacted = isEscaped ? replaceDecoded(text, pattern) : text.replace(pattern, hidden);
    if (!isTruncated) return redacted;
    const { decoded, starts } = decode(redacted.replace(partialEscape, ''));
    const start = starts[decoded.search(prefix)];
    return start === undefined ? redacted : redacted.slice(0, start) + hidden;
  };
  const use = (secrets: readonly string[]) => {
    search = createSearch(secrets);
  };
  return { replace, use };
}

/** Null without secrets. */
function createSearch(secrets: readonly string[]) {
  // A secret may begin with another one.
  const forms = secrets.flatMap(listForms).sort((a, b) => b.length - a.length);
  if (forms.length === 0) return null;
  return {
    pattern: new RegExp(forms.map((form) => form.join('')).join('|'), 'g'),
    prefix: new RegExp(`(?:${forms.map(prefixSource).join('|')})$`),
    escapes: secrets.some((secret) => /["\\]/.test(secret)) ? allEscapes : unusualEscapes,
  };
}

function replaceDecoded(text: string, pattern: RegExp): string {
  const { decoded, starts } = decode(text);
  let redacted = '';
  let end = 0;
  for (const { index, 0: found } of decoded.matchAll(pattern)) {
    redacted += text.slice(end, starts[index]) + hidden;
    end = starts[index + found.length] ?? text.length;
  }
  return redacted + text.slice(end);
}

/** Most texts have only the escapes of line breaks and quotes, and of `\\d` in regular expressions: they are not decoded. */
const unusualEscapes = /\\(?:u[\da-fA-F]{4}|[^A-Za-z\d"\\])|%[\da-fA-F]{2}/;
const allEscapes = /\\|%[\da-fA-F]{2}/;
/** The start of an escape that is cut off at the end of a text; also matches nothing. */
const partialEscape = /(?:\\{1,8}(?:u[\da-f]{0,3})?|%(?:25?){0,4}[\da-f]?)?$/i;
const hidden = '[hidden]';

/** The forms of a secret in decoded texts: as it is, its bytes as percent-encoding shows them, and its base64; the source of each character. */
function listForms(secret: string): string[][] {
  const plain = new Set([secret, Buffer.from(secret).toString('latin1')]);
  const forms = Array.from(plain, (text) => [...decode(text).decoded].map(plainSource));
  const base64 = listBase64(secret).map((text) => [...text].map((letter) => base64Sources[letter] ?? letter));
  return [...forms, ...base64].filter(({ length }) => length > 0);
}

/** In base64url, two characters are replaced. */
const base64Sources: Readonly<Record<string, string>> = { '+': '[+-]', '/': '[/_]' };

/** In any case. A class takes less time than the flag `i`. */
function plainSource(character: string): string {
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const isLetter = cases.size > 1 && [...cases].every(({ length }) => length === 1);
  return isLetter ? `[${[...cases].join('')}]` : character.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`);
}

/** Within longer bytes, it begins at one of three offsets, and shares characters with its neighbors. Fewer than 8 are part of ordinary words. */
function listBase64(secret: string): string[] {
  const encoded = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return encoded.filter(({ length }) => length >= 8);
}

/** The beginning of a form: at least 4 characters, as fewer occur in ordinary words. */
function prefixSource(form: readonly string[]): string {
  const optional = form.slice(4).reduceRight((rest, source) => `(?:${source}${rest})?`, '');
  return form.slice(0, 4).join('') + optional;
}

/**
 * Decodes the escapes of JSON and of URLs, also if they are escaped again, and removes backslashes, in one pass.
 * @returns where each character of the decoded text, and its end, are in the text
 */
function decode(text: string): { decoded: string; starts: Uint32Array } {
  const units = new Uint16Array(text.length);
  const starts = new Uint32Array(text.length + 1);
  let length = 0;
  for (let index = 0; index < text.length; ) {
    starts[length] = index;
    escaped.lastIndex = index;
    const code = text.charCodeAt(index);
    const [whole, digits, byte, other] = (code === backslash || code === percent ? escaped.exec(text) : null) ?? [];
    const unit = other?.charCodeAt(0) ?? (whole ? Number.parseInt(digits ?? byte ?? '', 16) : code);
    index += whole?.length ?? 1;
    // A secret that contains backslashes is looked for without them.
    if (unit !== backslash) units[length++] = unit;
  }
  starts[length] = text.length;
  return { decoded: Buffer.from(units.buffer, 0, 2 * length).toString('utf16le'), starts };
}

const escaped = /\\+u([\da-fA-F]{4})|\\*%(?:25)*([\da-fA-F]{2})|\\+(.)/sy;
const [backslash, percent] = [0x5c, 0x25];

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
 * Ids of requests, traces and documents must stay readable, so they are matched first, as no country's IBANs are 32 hexadecimal digits;
 * and those of orders, in their own field of a line of the log.
 */
const orderId = '(?<="orderId":")[A-Za-z0-9_-]{43}(?=")';
const id = `(?<id>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{32}|${orderId})`;
const idOrIbanLike = new RegExp(`${wordStart}(?:${id}|${ibanLike})${wordEnd}`, 'g');
