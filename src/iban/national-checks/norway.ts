import { createCheck, type NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/**
 * A last digit modulo 11; numbers for which it would have to be 10 are not issued. Of accounts in group 00 (the fifth
 * and sixth digit) ECBS TR201 guards only the four digits behind the group, and others all ten: those are completed
 * as TR201 says, and never judged.
 */
export const norway: NationalCheck = {
  ...createCheck((bban) => {
    const body = bban.slice(0, -1);
    const guarded = isGroup00(bban) ? body.slice(6) : body;
    const digit = (11 - (weightedSum(guarded, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
    return digit === 10 ? null : body + String(digit);
  }),
  covers: (bban) => !isGroup00(bban),
};

function isGroup00(bban: string): boolean {
  return bban.startsWith('00', 4);
}
