import type { IbanFieldName, PlacedField } from './iban-fields.ts';

export interface GivenField {
  name: IbanFieldName;
  /** Undefined where the country has no such field. */
  field: PlacedField | undefined;
  /** Compacted; empty where nothing was given. */
  given: string;
  country: string;
}

/**
 * One English sentence on what is wrong with a field that an IBAN is to be generated from; null where nothing is. It
 * tells how long the field is and which kinds of characters it has, and never its text: that may be personal data.
 */
export function describeFieldProblem({ name, field, given, country }: GivenField): string | null {
  const has = `${name} has ${count(given.length, 'character')}`;
  if (field === undefined) return given === '' ? null : `${has}; an IBAN of ${country} has no ${nouns[name]}.`;

  const expected = `${articles[name]} ${nouns[name]} of ${country} has ${describeExpected(field)}.`;
  if (given === '') return `${name} is missing; ${expected}`;
  const isRightLength = given.length === field.length || (field.padded && given.length < field.length);
  const misfits = findMisfits(field, given, isRightLength);
  if (misfits.length > 0) return `${has}, with ${join(misfits)} where they do not belong; ${expected}`;
  return isRightLength ? null : `${has}; ${expected}`;
}

const nouns: Readonly<Record<IbanFieldName, string>> = {
  bankCode: 'bank code',
  branch: 'branch',
  accountNumber: 'account number',
};
const articles: Readonly<Record<IbanFieldName, string>> = { bankCode: 'a', branch: 'a', accountNumber: 'an' };

/** 8 digits; up to 10 digits; 4 letters and 2 digits. */
function describeExpected({ kinds, padded }: PlacedField): string {
  const runs = (kinds.match(/n+|a+|c+/g) ?? []).map((run) => {
    if (run.startsWith('n')) return count(run.length, 'digit');
    const letters = count(run.length, 'letter');
    if (run.startsWith('a')) return letters;
    return run.length === 1 ? `${letters} or digit` : `${letters} or digits`;
  });
  return (padded ? 'up to ' : '') + join(runs);
}

/** Which kinds of characters stand where they may not; at a wrong length, which may stand nowhere in the field. */
function findMisfits({ kinds, length }: PlacedField, given: string, isRightLength: boolean): readonly string[] {
  const aligned = kinds.slice(length - given.length);
  const misfits = [...given].filter((character, index) =>
    isRightLength ? !fits(character, aligned[index]) : ![...kinds].some((kind) => fits(character, kind)),
  );
  return [...new Set(misfits.map(nameKind))].sort();
}

function fits(character: string, kind: string | undefined): boolean {
  if (kind === 'n') return isDigit(character);
  return kind === 'a' ? isLetter(character) : isDigit(character) || isLetter(character);
}

function nameKind(character: string): string {
  if (isDigit(character)) return 'digits';
  return isLetter(character) ? 'letters' : 'characters other than letters and digits';
}

function isDigit(character: string): boolean {
  return /^[0-9]$/.test(character);
}

function isLetter(character: string): boolean {
  return /^[A-Z]$/.test(character);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
