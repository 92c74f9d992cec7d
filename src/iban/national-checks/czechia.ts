import type { NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** CZ and SK: the account prefix and the account number are each a multiple of 11 once weighted; the bank is not guarded. */
export const czechia: NationalCheck = {
  passes(bban) {
    return weightedSum(bban.slice(4, 10), PREFIX) % 11 === 0 && weightedSum(bban.slice(10), ACCOUNT) % 11 === 0;
  },
};

const PREFIX = [10, 5, 8, 4, 2, 1];
const ACCOUNT = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
