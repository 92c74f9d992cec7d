import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactIban, findIbanProblems, isValidIban, parseIban } from '../../src/iban/iban.ts';
import { anyIban, digits, letters } from '../support/iban/any-iban.ts';

const isDigit = (character: string) => digits.includes(character);
const at = (text: string, index: number) => text.charAt(index);

describe('for every country', () => {
  it('an IBAN with computed check digits is valid, and its parts are complete', () => {
    fc.assert(
      fc.property(anyIban, (iban) => {
        expect(findIbanProblems(iban)).toEqual([]);
        const parts = parseIban(iban);
        expect(`${parts?.countryCode}${parts?.checkDigits}${parts?.bban}`).toBe(iban);
        expect(iban.endsWith(parts?.bbanRemainder ?? '?')).toBe(true);
      }),
    );
  });

  // Where both are allowed, one in 97 replacements of a digit by a letter is undetectable.
  it('a digit replaced by a digit or a letter by a letter is always detected', () => {
    fc.assert(
      fc.property(anyIban, fc.nat(), fc.nat(), (iban, position, choice) => {
        const index = 2 + (position % (iban.length - 2));
        const others = (isDigit(at(iban, index)) ? digits : letters).filter((other) => other !== at(iban, index));
        const changed = iban.slice(0, index) + at(others.join(''), choice % others.length) + iban.slice(index + 1);
        expect(isValidIban(changed)).toBe(false);
      }),
    );
  });

  it('swapped neighbours of one type are always detected', () => {
    fc.assert(
      fc.property(anyIban, fc.nat(), (iban, position) => {
        const index = 4 + (position % (iban.length - 5));
        const [left, right] = [at(iban, index), at(iban, index + 1)];
        fc.pre(left !== right && isDigit(left) === isDigit(right));
        expect(isValidIban(iban.slice(0, index) + right + left + iban.slice(index + 2))).toBe(false);
      }),
    );
  });
});

describe('for any text', () => {
  it('compacting is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(compactIban(compactIban(text))).toBe(compactIban(text));
      }),
    );
  });

  it('findIbanProblems and parseIban never throw and agree', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[A-Z]{2}\d{2}[A-Z0-9]{0,30}$/),
      fc.tuple(anyIban, fc.string()).map(([iban, tail]) => iban + tail),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const problems = findIbanProblems(text);
        const hasParts = problems.every((problem) => problem.includes('CHECK_digits'));
        expect(parseIban(text) !== null).toBe(hasParts);
      }),
    );
  });
});
