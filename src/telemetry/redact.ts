export type Redact = (text: string) => string;

/** For logs and errors: hides the given secrets, also in their JSON-escaped form, and everything that looks like an IBAN. */
export function createRedact(secrets: readonly string[]): Redact {
  const hideSecrets = createReplacement(secrets);
  return (text) => redactIbans(hideSecrets(text));
}

/** @param isTruncated whether the text may end within a secret */
export type RedactSecrets = (text: string, isTruncated?: boolean) => string;

/**
 * For upstream responses, which are returned to clients: hides secrets but not IBANs. Secrets of less than 8 characters
 * stay: a key such as "test" would remove words from essays.
 */
export function createSecretRedaction(secrets: readonly string[]): RedactSecrets {
  const long = secrets.filter((secret) => secret.length >= 8);
  const hideSecrets = createReplacement(long);
  const hidePrefix = createPrefixReplacement(long);
  return (text, isTruncated = false) => (isTruncated ? hidePrefix(hideSecrets(text)) : hideSecrets(text));
}

function createReplacement(secrets: readonly string[]): Redact {
  const forms = secrets.flatMap(formsOf);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[hidden]'), text);
}

/** Hides the longest prefix of a secret, of at least 4 characters, at the end of the text. */
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

/** Hides everything that looks like an IBAN: IBANs are personal data. */
export function redactIbans(text: string): string {
  return text.replace(uuidOrIbanLike, (_, uuid: string | undefined) => uuid ?? '[IBAN]');
}

/** Start of a word, also after an escaped character in JSON, such as \n, or a percent-encoded one. */
const wordStart = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const wordEnd = '(?![A-Za-z0-9])';
/** Separators between the groups of an IBAN, as people and URLs write them. */
const gap = '(?:[ \\t\\u00a0\\u2009\\u202f+./-]|%20|\\\\t){0,2}';
const ibanLike = `[A-Za-z]{2}${gap}\\d{2}(?:${gap}[A-Za-z0-9]{4}){2,7}(?:${gap}[A-Za-z0-9]{1,3})?`;
/** Groups of a UUID can look like an IBAN, so UUIDs are matched first and kept: request ids must stay readable. */
const uuid = '(?<uuid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})';
const uuidOrIbanLike = new RegExp(`${wordStart}(?:${uuid}|${ibanLike})${wordEnd}`, 'g');
