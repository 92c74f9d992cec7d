import type { NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** The elfproef over the ten digits of the account number. Former Postbank numbers, of up to seven digits, have none. */
export const netherlands: NationalCheck = {
  covers: (bban) => !bban.startsWith('000', 4),
  passes: (bban) => weightedSum(bban.slice(4), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
};
