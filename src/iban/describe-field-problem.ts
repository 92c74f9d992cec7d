import type { IbanFieldName, LocatedField } from './iban-fields.ts';

interface GivenField {
  name: IbanFieldName;
  /** Undefined if the country has no such field. */
  field: LocatedField | undefined;
  /** Compacted; empty if missing. */
  value: string;
  country: string;
}

/**
 * Describes the problem of a field in one sentence; null if there is none. The sentence contains lengths and character
 * types, but never the value, which may be personal data.
 */
export function describeFieldProblem({ name, field, value, country }: GivenField): string | null {
  const has = `${name} has ${count(value.length, 'character')}`;
  if (field === undefined) return value === '' ? null : `${has}; an IBAN of ${country} has no ${nouns[name]}.`;

  const expected = `${name === 'accountNumber' ? 'an' : 'a'} ${nouns[name]} of ${country} has ${describeExpected(field)}.`;
  if (value === '') return `${name} is missing; ${expected}`;
  const isRightLength = value.length === field.length || (field.padded && value.length < field.length);
  const misplaced = findMisplacedTypes(field, value, isRightLength);
  if (misplaced.length > 0) return `${has}, with ${join(misplaced)} where they are not allowed; ${expected}`;
  return isRightLength ? null : `${has}; ${expected}`;
}

const nouns: Readonly<Record<IbanFieldName, string>> = {
  bankCode: 'bank code',
  branch: 'branch',
  accountNumber: 'account number',
};

/** 8 digits; up to 10 digits; 4 letters and 2 digits. */
function describeExpected({ types, padded }: LocatedField): string {
  const runs = (types.match(/n+|a+|c+/g) ?? []).map((run) => {
    if (run.startsWith('n')) return count(run.length, 'digit');
    const letters = count(run.length, 'letter');
    if (run.startsWith('a')) return letters;
    return run.length === 1 ? `${letters} or digit` : `${letters} or digits`;
  });
  return (padded ? 'up to ' : '') + join(runs);
}

/** The types of characters that are not allowed at their position or, at a wrong length, nowhere in the field. */
function findMisplacedTypes({ types, length }: LocatedField, value: string, isRightLength: boolean): readonly string[] {
  const aligned = types.slice(length - value.length);
  const misplaced = [...value].filter((character, index) =>
    isRightLength ? !fits(character, aligned[index]) : ![...types].some((type) => fits(character, type)),
  );
  return [...new Set(misplaced.map(nameType))].sort();
}

function fits(character: string, type: string | undefined): boolean {
  if (type === 'n') return isDigit(character);
  return type === 'a' ? isLetter(character) : isDigit(character) || isLetter(character);
}

function nameType(character: string): string {
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
