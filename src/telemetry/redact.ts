export type Redact = (text: string) => string;

/** For logs and errors: redacts the given secrets, also in their JSON-escaped form, and everything that looks like an IBAN. */
export function createRedact(secrets: readonly string[]): Redact {
  const redactSecrets = createReplacement(secrets);
  return (text) => redactIbans(redactSecrets(text));
}

/** @param isTruncated whether the text may end within a secret */
export type RedactSecrets = (text: string, isTruncated?: boolean) => string;

/**
 * For upstream responses, which are returned to clients: redacts secrets but not IBANs. Secrets shorter than 8 characters
 * are not redacted: a key such as "test" would remove words from essays.
 */
export function createSecretRedaction(secrets: readonly string[]): RedactSecrets {
  const long = secrets.filter((secret) => secret.length >= 8);
  const redactSecrets = createReplacement(long);
  const redactPrefix = createPrefixReplacement(long);
  return (text, isTruncated = false) => (isTruncated ? redactPrefix(redactSecrets(text)) : redactSecrets(text));
}

function createReplacement(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap(formsOf);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[hidden]'), text);
}

/** Redacts the longest prefix of a secret, of at least 4 characters, at the end of the text. */
function createPrefixReplacement(secrets: readonly string[]): Redact {
  const prefixes = secrets
    .flatMap(formsOf)
    .flatMap((form) => Array.from({ length: form.length - 4 }, (_, index) => form.slice(0, index + 4)))
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const prefix = prefixes.find((prefix) => text.endsWith(prefix));
    return prefix === undefined ? text : `${text.slice(0, -prefix.length)}[hidden]`;
  };
}

/** The secret itself and as part of a JSON string. */
function formsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1)].filter(Boolean);
}

/** Redacts everything that looks like an IBAN: IBANs are personal data. */
export function redactIbans(text: string): string {
  return text.replace(uuidOrIbanLike, (_, uuid: string | undefined) => uuid ?? '[IBAN]');
}

/** Start of a word, also after an escaped character in JSON, such as \n, or a percent-encoded one. */
const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const wordEnd = '(?![A-Za-z0-9])';
/** Separators between the groups of an IBAN, as people and URLs write them. */
const gap = '(?:[ \\t\\u00a0\\u2009\\u202f+./-]|%20|\\\\t){0,2}';
const ibanLike = `[A-Za-z]{2}${gap}\\d{2}(?:${gap}[A-Za-z0-9]{4}){2,7}(?:${gap}[A-Za-z0-9]{1,3})?`;
/** Groups of a UUID can look like an IBAN, so UUIDs are matched first and skipped: request ids must stay readable. */
const uuid = '(?<uuid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})';
const uuidOrIbanLike = new RegExp(`${wordStart}(?:${uuid}|${ibanLike})${wordEnd}`, 'g');
