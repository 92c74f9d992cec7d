import { mod97 } from '../mod97.ts';
import { createCheck, type NationalCheck } from './national-check.ts';

/**
 * ISO 7064 MOD 97-10 over the whole BBAN, whose last two digits are the check digits: BA, ME, MK, PT, TL and XK.
 * Letters, which MK allows, count from A = 10 to Z = 35.
 */
export const mod9710: NationalCheck = createCheck((bban) => {
  const body = bban.slice(0, -2);
  return body + String(98 - mod97(`${body}00`)).padStart(2, '0');
});

/** `mod9710`, except for the bank whose accounts have other check digits: 908 in RS, 01 in SI. */
export function mod9710Except(bankCode: string): NationalCheck {
  return { ...mod9710, covers: (bban) => !bban.startsWith(bankCode) };
}
