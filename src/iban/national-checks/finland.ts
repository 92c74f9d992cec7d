import { createCheck, type NationalCheck } from './national-check.ts';

/** FI and AX: Luhn over all fourteen digits; the first, third ... thirteenth are doubled. */
export const finland: NationalCheck = createCheck((bban) => {
  const body = bban.slice(0, -1);
  let sum = 0;
  for (let index = 0; index < body.length; index += 1) {
    const digit = Number(body[index]);
    sum += index % 2 === 0 ? (doubledDigitSums[digit] ?? 0) : digit;
  }
  return body + String((10 - (sum % 10)) % 10);
});

/** By digit: the digit sum of its double. */
const doubledDigitSums = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
