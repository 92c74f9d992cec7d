export type Redact = (text: string) => string;

/** Takes the given secrets, also as JSON would escape them, and everything that reads like an IBAN out of a text. */
export function createRedact(secrets: readonly string[]): Redact {
  const hide = hideAll(secrets);
  return (text) => redactIbans(hide(text));
}

/**
 * Takes the secrets alone out of a text that is to be shown otherwise as it is, such as an upstream's answer. Short
 * ones stay: a key like "test" would take words out of essays.
 */
export function createConceal(secrets: readonly string[]): Redact {
  return hideAll(secrets.filter((secret) => secret.length >= 8));
}

function hideAll(secrets: readonly string[]): Redact {
  const hidden = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]).filter(Boolean);
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/** The text with everything that reads like an IBAN replaced: an IBAN is personal data. */
export function redactIbans(text: string): string {
  return text.replace(UUID_OR_IBAN_LIKE, (_, uuid: string | undefined) => uuid ?? '[IBAN]');
}

/** Where a word begins, also behind an escaped line break (as in a line of JSON) or a percent-encoded character. */
const BEGIN = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const END = '(?![A-Za-z0-9])';
/** What people and URLs put between the groups of an IBAN. */
const GAP = '(?:[ \\u00a0\\u2009\\u202f+-]|%20){0,2}';
const IBAN_LIKE = `[A-Za-z]{2}${GAP}\\d{2}(?:${GAP}[A-Za-z0-9]{4}){2,7}(?:${GAP}[A-Za-z0-9]{1,3})?`;
/**
 * The groups of a UUID can read like an IBAN, so a whole UUID is matched first and left alone: request ids must stay
 * readable.
 */
const UUID = '(?<uuid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})';
const UUID_OR_IBAN_LIKE = new RegExp(`${BEGIN}(?:${UUID}|${IBAN_LIKE})${END}`, 'g');
