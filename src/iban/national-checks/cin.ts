import { createCheck, type NationalCheck } from './national-check.ts';

/** The CIN of IT and SM: the first letter of the BBAN checks all characters after it, with other values in odd places. */
export const cin: NationalCheck = createCheck((bban) => {
  const body = bban.slice(1);
  let sum = 0;
  for (let index = 0; index < body.length; index += 1) {
    const rank = rankOf(body.charCodeAt(index));
    // Index 0 is the first place, which is odd.
    sum += index % 2 === 0 ? (oddPlaceValues[rank] ?? 0) : rank;
  }
  return String.fromCharCode(A + (sum % 26)) + body;
});

const zero = 48;
const A = 65;
/** By rank. */
const oddPlaceValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
] as const;

/** Both 0 to 9 and A to Z count from 0, so 0 and A have the same rank. */
function rankOf(code: number): number {
  return code >= A ? code - A : code - zero;
}
