import { createCheck, type NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/**
 * A last digit modulo 11; numbers whose check digit would be 10 are not issued. For accounts in group 00 (fifth and
 * sixth digit) sources differ: ECBS TR201 checks only the four digits after the group, others all ten. These accounts
 * are completed according to TR201 and never checked.
 */
export const norway: NationalCheck = {
  ...createCheck((bban) => {
    const body = bban.slice(0, -1);
    const checked = isGroup00(bban) ? body.slice(6) : body;
    const digit = (11 - (weightedSum(checked, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
    return digit === 10 ? null : body + String(digit);
  }),
  covers: (bban) => !isGroup00(bban),
};

function isGroup00(bban: string): boolean {
  return bban.startsWith('00', 4);
}
