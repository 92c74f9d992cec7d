/**
 * The remainder of ISO 7064 MOD 97-10; letters count as two digits (A = 10 ... Z = 35). The number can have seventy
 * digits, so it is reduced character by character.
 * @param start index of the first character that is read; those before it are read after the last one
 * @throws RangeError for anything but A-Z and 0-9
 * @example
 * mod97('DE89370400440532013000', 4) // => 1
 */
export function mod97(text: string, start = 0): number {
  let remainder = 0;
  for (let index = start; index < start + text.length; index += 1) {
    remainder = append(remainder, valueAt(text, index < text.length ? index : index - text.length));
  }
  if (Number.isNaN(remainder)) throw new RangeError('mod 97-10 is defined for A-Z and 0-9 only');
  return remainder;
}

/** The value of a character, from A = 10 to Z = 35; NaN for others, and behind the text. */
export function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= zero && code <= nine) return code - zero;
  return code >= A && code <= Z ? code - A + 10 : Number.NaN;
}

/** The remainder after one more character; NaN if one of its characters has no value. */
export function append(remainder: number, value: number): number {
  return (remainder * (value < 10 ? 10 : 100) + value) % 97;
}

/**
 * The two check digits that make an IBAN of this country code and BBAN valid, from 02 to 98 (ISO 13616). Neither the
 * country nor the structure of the BBAN is checked.
 * @throws RangeError for anything but A-Z and 0-9
 * @example
 * calcCheckDigits('DE', '370400440532013000') // => '89'
 */
export function calcCheckDigits(country: string, bban: string): string {
  return String(98 - mod97(`${bban}${country}00`)).padStart(2, '0');
}

const zero = 48;
const nine = 57;
const A = 65;
const Z = 90;
