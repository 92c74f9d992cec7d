import { mod97 } from '../mod97.ts';
import { createCheck, type NationalCheck } from './national-check.ts';

/**
 * The clé RIB in the last two digits of the BBAN, 01 to 97: FR and MC, and from there DJ, MR and TN. It makes the BBAN
 * divisible by 97, which is equivalent to the French weights 89, 15 and 3. A letter counts as a digit: A to I
 * and J to R as 1 to 9, S to Z as 2 to 9.
 */
export const cleRib: NationalCheck = createCheck((bban) => {
  const body = bban.slice(0, -2);
  const digits = body.replace(/[A-Z]/g, (letter) => values[letter.charCodeAt(0) - A] ?? '');
  return body + String(97 - mod97(`${digits}00`)).padStart(2, '0');
});

const A = 65;
/** From A to Z. */
const values = '12345678912345678923456789';
