import type { NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** The eighth digit of the sort code checks the seven before it. It is part of the bank code, so it is never completed. */
export const poland: NationalCheck = {
  passes: (bban) => weightedSum(bban.slice(0, 8), [3, 9, 7, 1, 3, 9, 7, 1]) % 10 === 0,
};
