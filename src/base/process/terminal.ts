/** Writes a text for people to standard output. Data for programs is written as it is. */
export function print(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** As `print`, to standard error. */
export function printError(text: string): void {
  process.stderr.write(escapeControls(text));
}

/**
 * Escapes what would control a terminal, or reorder its text: names of files, cells and responses may contain it. JSON has the same
 * meaning afterwards.
 * @example
 * escapeControls('payees\u001b[2J\u202e.csv\n') // => 'payees\\u001b[2J\\u202e.csv\n'
 */
export function escapeControls(text: string): string {
  return text.replace(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Not line breaks and tabs, which tables have, too. */
const controls = /(?!\t|\r?\n)[\p{Cc}\p{Bidi_Control}]/gu;

/** Such as "1,500". */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** Such as "1 bank" and "1,500 branches". */
export function countOf(number: number, noun: string): string {
  return `${count(number)} ${plural(number, noun)}`;
}

/** The noun, or its plural. */
export function plural(number: number, noun: string): string {
  return number === 1 ? noun : `${noun}${/(?:ch|s)$/.test(noun) ? 'es' : 's'}`;
}

/** A text in one line of at most this length. */
export function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
