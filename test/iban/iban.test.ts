import { describe, expect, it } from 'vitest';
import { describeIbanProblem } from '../../src/iban/describe-iban-problem.ts';
import { compactIban, findIbanProblems, type IbanProblem, isValidIban } from '../../src/iban/iban.ts';
import { findCountryFormat } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };

const problemByReason: ReadonlyMap<string, IbanProblem> = new Map([
  ['unknown_country', 'UNKNOWN_COUNTRY'],
  ['length', 'WRONG_LENGTH'],
  ['mod97', 'WRONG_CHECK_DIGITS'],
  ['bban_structure', 'WRONG_STRUCTURE'],
  ['check_digits_not_numeric', 'WRONG_STRUCTURE'],
  ['check_digits_out_of_range(02..98)', 'CHECK_DIGITS_OUT_OF_RANGE'],
]);

const inRegistry = (iban: string) => findCountryFormat(iban.slice(0, 2)) !== null;
const partial = vectors.valid.filter(({ scope }) => scope.startsWith('partial'));
const valid = vectors.valid.filter((vector) => !partial.includes(vector));
const national = vectors.invalid.filter(({ reason }) => reason === 'national_check');
const invalid = vectors.invalid.filter(({ iban, reason }) => inRegistry(iban) && reason !== 'national_check');
const elsewhere = [...partial, ...vectors.invalid.filter(({ iban }) => !inRegistry(iban))];

describe('published valid IBANs', () => {
  it.each(valid)('accepts $iban ($scope)', ({ iban }) => {
    expect(findIbanProblems(compactIban(iban))).toEqual([]);
    expect(isValidIban(compactIban(iban))).toBe(true);
  });

  it.each(national)('accepts $iban, whose national check digits are wrong', ({ iban }) => {
    expect(findIbanProblems(compactIban(iban))).toEqual([]);
  });
});

describe('published invalid IBANs', () => {
  it.each(invalid)('rejects $iban: $reason', ({ iban, reason }) => {
    const problems = findIbanProblems(compactIban(iban));
    expect(problems).toEqual(expect.arrayContaining(reason.split(', ').map((part) => problemByReason.get(part))));
    expect(isValidIban(compactIban(iban))).toBe(false);
  });

  it.each(elsewhere)('reports only that the country of $iban has no IBANs', ({ iban }) => {
    expect(findIbanProblems(compactIban(iban))).toEqual(['UNKNOWN_COUNTRY']);
  });
});

describe('findIbanProblems', () => {
  it.each<[string, string, IbanProblem[]]>([
    ['an empty text', '', ['UNKNOWN_COUNTRY']],
    ['half a country code', 'D', ['UNKNOWN_COUNTRY']],
    ['a country code only', 'DE', ['WRONG_LENGTH']],
    ['small letters, which compacting would change', 'de89370400440532013000', ['ILLEGAL_CHARACTERS']],
    ['spaces, which compacting would remove', 'DE89 370400440532013000', ['ILLEGAL_CHARACTERS']],
    ['digits of another script', 'DE89370400440532٠١٣٠٠٠', ['ILLEGAL_CHARACTERS']],
    ['an illegal character in an unknown country', 'ZZ!', ['ILLEGAL_CHARACTERS']],
    ['one digit too few', 'DE8937040044053201300', ['WRONG_LENGTH', 'WRONG_CHECK_DIGITS']],
    ['a letter among digits, recalculated', 'DE033704004405320130O0', ['WRONG_STRUCTURE']],
    ['letters as check digits', 'DEXX370400440532013000', ['WRONG_STRUCTURE']],
    ['wrong check digits alone', 'DE88370400440532013000', ['WRONG_CHECK_DIGITS']],
  ])('finds the problems of %s', (_, iban, problems) => {
    expect(findIbanProblems(iban)).toEqual(problems);
  });

  it('rejects check digits that mod 97 alone would accept', () => {
    expect(findIbanProblems('GB98MIDL07009312345678')).toEqual([]);
    expect(findIbanProblems('GB01MIDL07009312345678')).toEqual(['CHECK_DIGITS_OUT_OF_RANGE']);
  });
});

describe('compactIban', () => {
  it.each([
    ['spaces', 'DE89 3704 0044 0532 0130 00'],
    ['hyphens', 'DE89-3704-0044-0532-0130-00'],
    ['the dashes of a word processor', 'DE89‐3704‑0044–0532—0130 00'],
    ['no-break, thin and ideographic spaces', 'DE89\u00a03704\u202f0044\u20090532\u30000130\u205f00'],
    ['line breaks and tabs', '\tDE89370400\r\n440532013000\n'],
    ['invisible characters', '\ufeffDE89\u200b3704\u00ad0044\u200e0532\u20600130\u200d00'],
    ['small letters', 'de89370400440532013000'],
  ])('normalizes %s', (_, text) => {
    expect(compactIban(text)).toBe('DE89370400440532013000');
  });

  it.each(['ſ', 'ı', 'ß', 'ﬁ', 'é', '.', '_', '０'])('does not change "%s"', (character) => {
    expect(compactIban(`DE${character}`)).toBe(`DE${character}`);
  });
});

describe('describeIbanProblem', () => {
  it('contains the lengths', () => {
    expect(describeIbanProblem('WRONG_LENGTH', 'DE8937040044053201300')).toBe(
      'An IBAN of DE has 22 characters; this one has 21.',
    );
  });

  it.each(vectors.invalid)('never contains the IBAN: $iban', ({ iban }) => {
    const compact = compactIban(iban);
    for (const problem of findIbanProblems(compact)) {
      const sentence = describeIbanProblem(problem, compact);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      for (let at = 0; at + 4 <= compact.length; at += 1) expect(sentence).not.toContain(compact.slice(at, at + 4));
    }
  });
});
