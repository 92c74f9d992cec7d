import type { NationalCheck } from './national-check.ts';

/** ISO 7064 MOD 11,10 twice: over the seven digits of the bank code and over the ten of the account. */
export const croatia: NationalCheck = {
  passes: (bban) => passesMod1110(bban.slice(0, 7)) && passesMod1110(bban.slice(7)),
};

function passesMod1110(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    product = (((product + Number(digit)) % 10 || 10) * 2) % 11;
  }
  return (product + Number(digits.slice(-1))) % 10 === 1;
}
