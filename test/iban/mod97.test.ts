import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mod97 } from '../../src/iban/mod97.ts';

describe('mod97', () => {
  it('computes the remainder of numbers of any length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 70n }), (number) => {
        expect(mod97(String(number))).toBe(Number(number % 97n));
      }),
    );
  });

  it('counts letters as two digits, from A = 10 to Z = 35', () => {
    expect(mod97('A')).toBe(10);
    expect(mod97('Z')).toBe(35);
    expect(mod97('1Z2')).toBe(1352 % 97);
  });

  it.each(['a', '1 2', '٣', 'Ä'])('rejects "%s"', (text) => {
    expect(() => mod97(text)).toThrow(RangeError);
  });
});
