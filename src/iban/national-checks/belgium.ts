import { createCheck, type NationalCheck } from './national-check.ts';

/** The first ten digits modulo 97, where 0 is written as 97. */
export const belgium: NationalCheck = createCheck((bban) => {
  const body = bban.slice(0, 10);
  return body + String(Number(body) % 97 || 97).padStart(2, '0');
});
