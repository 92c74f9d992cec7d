import { createCheck, type NationalCheck } from './national-check.ts';
import { weightedSum } from './weighted-sum.ts';

/** Two digits between branch and account: the first checks bank and branch, the second the account. */
export const spain: NationalCheck = createCheck((bban) => {
  const [bankAndBranch, account] = [bban.slice(0, 8), bban.slice(10)];
  return `${bankAndBranch}${calcCheckDigit(`00${bankAndBranch}`)}${calcCheckDigit(account)}${account}`;
});

const weights = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];

/** 10 is written as 1, and 11 as 0. */
function calcCheckDigit(tenDigits: string): number {
  const digit = 11 - (weightedSum(tenDigits, weights) % 11);
  if (digit === 10) return 1;
  return digit === 11 ? 0 : digit;
}
