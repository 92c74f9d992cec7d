/** The forms in which services echo a secret: the name of the form, and the secret in it. */
export function formsOf(secret: string): [form: string, echo: string][] {
  const units = unitsOf(secret);
  const percent = percentOf(secret);
  const base64 = ['', 'x', 'xy'].map((before): [string, string] => [
    `base64 after ${before.length} bytes`,
    Buffer.from(`${before}${secret}z`).toString('base64'),
  ]);
  return [
    ['as it is', secret],
    ['in capital letters', secret.toUpperCase()],
    ['in letters of the other case', swapCase(secret)],
    ['in capital letters, as \\u escapes', unitsOf(secret.toUpperCase()).join('')],
    ['in letters of the other case, percent-encoded', percentOf(swapCase(secret))],
    ['as PHP writes it in JSON', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['as \\u escapes', units.join('')],
    ['as \\u escapes in capital letters', units.map((unit) => `\\u${unit.slice(2).toUpperCase()}`).join('')],
    ['partly as \\u escapes', units.slice(0, 3).join('') + secret.slice(3)],
    ['as JSON within JSON', units.map((unit) => `\\${unit}`).join('')],
    ['URL-encoded', encodeURIComponent(secret)],
    ['percent-encoded', percent],
    ['percent-encoded twice', percent.replaceAll('%', '%25')],
    ...base64,
    ...base64.map(([form, echo]): [string, string] => [`${form}, as PHP writes it`, echo.replaceAll('/', '\\/')]),
    ...base64.map(([form, echo]): [string, string] => [`${form}, URL-encoded`, encodeURIComponent(echo)]),
    ['base64url', Buffer.from(secret).toString('base64url')],
  ];
}

function unitsOf(text: string): string[] {
  return [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function percentOf(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}

/** The part of an echo that is surely secret: the characters at its ends may encode neighbouring bytes. */
export function coreOf(echo: string): string {
  return echo.slice(6, -6);
}
