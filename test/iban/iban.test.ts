import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compactIban,
  describeIbanProblem,
  findIbanProblems,
  type IbanProblem,
  isValidIban,
  parseIban,
} from '../../src/iban/iban.ts';
import { calcCheckDigits } from '../../src/iban/mod97.ts';
import { findCountryFormat, findUnregisteredFormat } from '../../src/iban/registry.ts';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { anyIban } from '../support/ibans.ts';
import { anyCharacter } from '../support/random.ts';

const problemByReason: ReadonlyMap<string, IbanProblem> = new Map([
  ['unknown_country', 'UNKNOWN_COUNTRY'],
  ['mod97', 'WRONG_CHECK_DIGITS'],
  ['bban_structure', 'WRONG_STRUCTURE'],
  ['check_digits_not_numeric', 'WRONG_STRUCTURE'],
  ['check_digits_out_of_range(02..98)', 'CHECK_DIGITS_OUT_OF_RANGE'],
]);

const inRegistry = (iban: string) => findCountryFormat(iban.slice(0, 2)) !== null;
const isUnregistered = (iban: string) => findUnregisteredFormat(iban.slice(0, 2)) !== null;
const unregistered = vectors.valid.filter(({ scope }) => scope.startsWith('partial'));
const valid = vectors.valid.filter((vector) => !unregistered.includes(vector));
const national = vectors.invalid.filter(({ reason }) => reason === 'national_check');
const invalid = vectors.invalid.filter(({ iban, reason }) => inRegistry(iban) && reason !== 'national_check');
const invalidElsewhere = vectors.invalid.filter(({ iban }) => !inRegistry(iban));

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
    const compacted = compactIban(iban);
    const problems = findIbanProblems(compacted);
    const length = findCountryFormat(compacted.slice(0, 2))?.length ?? 0;
    if (compacted.length !== length) {
      expect(problems).toEqual([compacted.length < length ? 'TOO_SHORT' : 'TOO_LONG']);
    } else {
      expect(problems).toEqual(expect.arrayContaining(reason.split(', ').map((part) => problemByReason.get(part))));
    }
    expect(isValidIban(compactIban(iban))).toBe(false);
  });

  it.each(invalidElsewhere.filter(({ iban }) => !isUnregistered(iban)))(
    'reports only that the country of $iban has no IBANs',
    ({ iban }) => {
      expect(findIbanProblems(compactIban(iban))).toEqual(['UNKNOWN_COUNTRY']);
    },
  );

  it.each(invalidElsewhere.filter(({ iban }) => isUnregistered(iban)))(
    'reports what is wrong with $iban, although its country is not registered',
    ({ iban }) => {
      const [problem, ...others] = findIbanProblems(compactIban(iban));
      expect(problem).toBe('NOT_REGISTERED');
      expect(others.length).toBeGreaterThan(0);
      expect(isValidIban(iban)).toBe(false);
    },
  );
});

describe('an IBAN of a country outside the registry', () => {
  it.each(unregistered)('$iban has no other problem, but is not valid', ({ iban }) => {
    expect(findIbanProblems(iban)).toEqual(['NOT_REGISTERED']);
    expect(isValidIban(iban)).toBe(false);
    expect(parseIban(iban)).toBeNull();
  });

  it.each([
    ['25', 'AO CV GW MZ'],
    ['26', 'DZ IR'],
    ['27', 'CF CG CM GA GQ KM MG TD'],
    ['28', 'BF BJ CI MA ML NE SN TG'],
  ])('has %s characters in %s', (length, countries) => {
    for (const country of countries.split(' ')) {
      const bban = '0'.repeat(Number(length) - 4);
      const iban = country + calcCheckDigits(country, bban) + bban;
      expect(findIbanProblems(iban)).toEqual(['NOT_REGISTERED']);
      expect(findIbanProblems(`${iban}0`)).toEqual(['NOT_REGISTERED', 'TOO_LONG']);
      expect(findCountryFormat(country)).toBeNull();
    }
  });

  it.each<[string, string, IbanProblem[]]>([
    ['wrong check digits', 'MA65011519000001205000534921', ['NOT_REGISTERED', 'WRONG_CHECK_DIGITS']],
    ['a letter among digits', 'CG90300110001010134513000X9', ['NOT_REGISTERED', 'WRONG_STRUCTURE']],
    [
      'the check digits 00',
      'TG00TG0090604310346500400070',
      ['NOT_REGISTERED', 'CHECK_DIGITS_OUT_OF_RANGE', 'WRONG_CHECK_DIGITS'],
    ],
    ['a country code only', 'BJ', ['NOT_REGISTERED', 'TOO_SHORT']],
    ['spaces', 'BJ66 BJ0610100100144390000769', ['ILLEGAL_CHARACTERS']],
  ])('with %s has these problems', (_, iban, problems) => {
    expect(findIbanProblems(iban)).toEqual(problems);
  });

  it('is described with its country and length', () => {
    expect(describeIbanProblem('NOT_REGISTERED', 'MA64')).toMatch(/^MA is not in the SWIFT IBAN registry/);
    expect(describeIbanProblem('TOO_SHORT', 'MA64')).toBe('An IBAN of MA has 28 characters; this one has 4.');
  });
});

describe('findIbanProblems', () => {
  it.each<[string, string, IbanProblem[]]>([
    ['an empty text', '', ['EMPTY']],
    ['half a country code', 'D', ['TOO_SHORT']],
    ['a digit', '8', ['UNKNOWN_COUNTRY']],
    ['a country code only', 'DE', ['TOO_SHORT']],
    ['check digits that are never issued, with more to type', 'DE00', ['TOO_SHORT']],
    ['one digit too many', 'DE893704004405320130000', ['TOO_LONG']],
    ['small letters, which compacting would change', 'de89370400440532013000', ['ILLEGAL_CHARACTERS']],
    ['spaces, which compacting would remove', 'DE89 370400440532013000', ['ILLEGAL_CHARACTERS']],
    ['digits of another script', 'DE89370400440532٠١٣٠٠٠', ['ILLEGAL_CHARACTERS']],
    ['an illegal character in an unknown country', 'ZZ!', ['ILLEGAL_CHARACTERS']],
    ['one digit too few', 'DE8937040044053201300', ['TOO_SHORT']],
    ['a letter among digits, recalculated', 'DE033704004405320130O0', ['WRONG_STRUCTURE']],
    ['letters as check digits', 'DEXX370400440532013000', ['WRONG_STRUCTURE']],
    ['letters in a bank code of Brazil, which release 103 of the registry allows', 'BR09ABC12345000010009795493C1', []],
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
  it.each(vectors.invalid)('never contains the IBAN: $iban', ({ iban }) => {
    const compact = compactIban(iban);
    for (const problem of findIbanProblems(compact)) {
      const sentence = describeIbanProblem(problem, compact);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      for (let at = 0; at + 4 <= compact.length; at += 1) expect(sentence).not.toContain(compact.slice(at, at + 4));
    }
  });
});

describe('parseIban', () => {
  it('returns all parts of an IBAN', () => {
    expect(parseIban('GB29NWBK60161331926819')).toEqual({
      countryCode: 'GB',
      checkDigits: '29',
      bban: 'NWBK60161331926819',
      bankCode: 'NWBK',
      branch: '601613',
      nationalCheckDigits: null,
      bbanRemainder: '31926819',
    });
  });

  it('does not check the check digits', () => {
    expect(parseIban('DE00370400440532013000')?.bankCode).toBe('37040044');
  });

  it.each([
    ['too short', 'DE8937040044053201300'],
    ['of an unknown country', 'US89370400440532013000'],
    ['of the wrong structure', 'DE8937040044053201300X'],
    ['not compacted', 'CH93 0076 2011 6238 5295 7'],
    ['in small letters', 'FR1420041010050500013m02606'],
    ['empty', ''],
  ])('returns null for a text that is %s', (_, text) => {
    expect(parseIban(text)).toBeNull();
  });
});

/** What two executed libraries have returned. Our account number includes national check digits, and BR's account type and holder. */
const executed = vectors.parts.filter(({ source }) => source.includes('executed'));

it.each(executed)(
  'the published parts of $iban are ours',
  ({ iban, bank_code, branch, account_number, national_check }) => {
    const { bankCode, branch: ownBranch, nationalCheckDigits, bbanRemainder = '' } = parseIban(iban) ?? {};
    expect([bankCode, ownBranch ?? '', nationalCheckDigits ?? '']).toEqual([bank_code, branch, national_check]);
    const own = bbanRemainder.replace(new RegExp(`${national_check}$`), '');
    expect(iban.startsWith('BR') ? own.slice(0, 10) : own).toBe(account_number);
  },
);

describe('for every country', () => {
  it('an IBAN with computed check digits is valid, and its parts are complete', () => {
    fc.assert(
      fc.property(anyIban, (iban) => {
        expect(findIbanProblems(iban)).toEqual([]);
        const parts = parseIban(iban);
        expect(`${parts?.countryCode}${parts?.checkDigits}${parts?.bban}`).toBe(iban);
        expect(iban.endsWith(parts?.bbanRemainder ?? '?')).toBe(true);
        expect(Object.values(parts ?? {})).not.toContain('');
      }),
    );
  });
});

describe('for any text', () => {
  it('compacting is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(compactIban(compactIban(text))).toBe(compactIban(text));
      }),
    );
  });

  it('findIbanProblems and parseIban never throw and agree', () => {
    const anyText = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.stringMatching(/^[A-Z]{2}\d{2}[A-Z0-9]{0,30}$/),
      fc.tuple(anyIban, fc.string()).map(([iban, tail]) => iban + tail),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const problems = findIbanProblems(text);
        const hasParts = problems.every((problem) => problem.includes('CHECK_DIGITS'));
        expect(parseIban(text) !== null).toBe(hasParts);
      }),
    );
  });
});
