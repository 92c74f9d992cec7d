export type Redact = (text: string) => string;

/** Takes the given secrets, also as JSON would escape them, and everything that reads like an IBAN out of a text. */
export function createRedact(secrets: readonly string[]): Redact {
  const hide = hideAll(secrets);
  return (text) => redactIbans(hide(text));
}

/** @param isCut whether the text broke off, so that half a secret may stand at its end */
export type RedactSecrets = (text: string, isCut?: boolean) => string;

/**
 * Takes the secrets alone out of a text that is to be shown otherwise as it is, such as an upstream's answer. Short
 * ones stay: a key like "test" would take words out of essays.
 */
export function createSecretRedaction(secrets: readonly string[]): RedactSecrets {
  const long = secrets.filter((secret) => secret.length >= 8);
  const hide = hideAll(long);
  const hideHalf = hideHalfAtEnd(long);
  return (text, isCut = false) => (isCut ? hideHalf(hide(text)) : hide(text));
}

function hideAll(secrets: readonly string[]): Redact {
  const hidden = secrets.flatMap(spellingsOf);
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/** Hides the first characters of a secret, four or more, where the text ends with them. */
function hideHalfAtEnd(secrets: readonly string[]): Redact {
  const halves = secrets
    .flatMap(spellingsOf)
    .flatMap((secret) => Array.from({ length: secret.length - 4 }, (_, index) => secret.slice(0, index + 4)))
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const half = halves.find((beginning) => text.endsWith(beginning));
    return half === undefined ? text : `${text.slice(0, -half.length)}[hidden]`;
  };
}

/** As it is, and as JSON would escape it. */
function spellingsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1)].filter(Boolean);
}

/** The text with everything that reads like an IBAN replaced: an IBAN is personal data. */
export function redactIbans(text: string): string {
  return text.replace(uuidOrIbanLike, (_, uuid: string | undefined) => uuid ?? '[IBAN]');
}

/** Where a word begins, also behind an escaped line break (as in a line of JSON) or a percent-encoded character. */
const begin = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))`;
const END = '(?![A-Za-z0-9])';
/** What people and URLs put between the groups of an IBAN. */
const gap = '(?:[ \\t\\u00a0\\u2009\\u202f+./-]|%20|\\\\t){0,2}';
const ibanLike = `[A-Za-z]{2}${gap}\\d{2}(?:${gap}[A-Za-z0-9]{4}){2,7}(?:${gap}[A-Za-z0-9]{1,3})?`;
/**
 * The groups of a UUID can read like an IBAN, so a whole UUID is matched first and left alone: request ids must stay
 * readable.
 */
const UUID = '(?<uuid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})';
const uuidOrIbanLike = new RegExp(`${begin}(?:${UUID}|${ibanLike})${END}`, 'g');
