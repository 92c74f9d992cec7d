import type { NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/**
 * The eighth digit checks bank and branch, the last one the sixteen digits of the account. Only the last one can be
 * completed: the eighth is the first digit of the account number as customers write it.
 */
export const hungary: NationalCheck = {
  passes(bban) {
    return weightedSum(bban.slice(0, 8), weights) % 10 === 0 && weightedSum(bban.slice(8), weights) % 10 === 0;
  },
  complete(bban) {
    const body = bban.slice(0, -1);
    return body + String((10 - (weightedSum(body.slice(8), weights) % 10)) % 10);
  },
};

const weights = [9, 7, 3, 1];
