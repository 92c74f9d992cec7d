import { createCheck, type NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** The last digit makes the sum of all digits after the bank code a multiple of 10, weighted 7-3-1 from the right. */
export const estonia: NationalCheck = createCheck((bban) => {
  const body = bban.slice(0, -1);
  const fromTheRight = [...body.slice(2)].reverse().join('');
  return body + String((10 - (weightedSum(fromTheRight, [7, 3, 1]) % 10)) % 10);
});
