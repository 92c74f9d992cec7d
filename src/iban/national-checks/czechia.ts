import type { NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** CZ and SK: the weighted sums of account prefix and account number are multiples of 11; the bank code is not checked. */
export const czechia: NationalCheck = {
  passes: (bban) =>
    weightedSum(bban.slice(4, 10), weights.slice(4)) % 11 === 0 && weightedSum(bban.slice(10), weights) % 11 === 0,
};

const weights = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
