import { findBicProblems } from './bic.ts';
import { isValidIban } from './iban.ts';
import { findCountryFormat } from './registry.ts';

/**
 * The valid IBAN in a pasted text, such as one behind "IBAN:", in quotes or with dots; null if there is none, or several.
 * @example
 * findPastedIban('IBAN-NR.:DE89/3704/0044/0532/0130/00') // => 'DE89370400440532013000'
 */
export function findPastedIban(text: string): string | null {
  if (text.length > maxLength) return null;
  const characters = lettersAndDigits(text);
  const found = new Set<string>();
  for (let start = 0; start < characters.length; start += 1) {
    const length = findCountryFormat(characters.slice(start, start + 2))?.length ?? 0;
    const candidate = characters.slice(start, start + length);
    if (length > 0 && candidate.length === length && isValidIban(candidate)) found.add(candidate);
  }
  const [iban = null, ...others] = found;
  return others.length === 0 ? iban : null;
}

/** Far more than an IBAN and a label. */
const maxLength = 200;

/**
 * The BIC in a pasted text that has nothing else but a label, or the one behind a label; null if there is none, or several. Without a
 * label, the letters of a word may look like a BIC.
 * @example
 * findPastedBic('SWIFT/BIC: "COBADEFF"') // => 'COBADEFF'
 * findPastedBic('Commerzbank, BIC COBADEFFXXX') // => 'COBADEFFXXX'
 */
export function findPastedBic(text: string): string | null {
  if (text.length > maxLength) return null;
  const labelled = [...toAscii(text).matchAll(behindLabel)].map(([, bic = '']) => bic);
  const [bic, ...others] = new Set(labelled.filter((bic) => findBicProblems(bic).length === 0));
  if (bic !== undefined) return others.length === 0 ? bic : null;
  const whole = lettersAndDigits(text).replace(/^(?:BIC|SWIFT|CODE|NR|NO)+(?=.{8}(?:.{3})?$)/, '');
  return findBicProblems(whole).length === 0 ? whole : null;
}

const behindLabel =
  /(?:BIC|SWIFT|IDENTIFIER)(?:[^A-Z0-9]|BIC|SWIFT|CODE|NR|NO)*?([A-Z0-9]{8}(?:[A-Z0-9]{3})?)(?=[^A-Z0-9]|IBAN|$)/g;

function lettersAndDigits(text: string): string {
  return toAscii(text).replaceAll(/[^A-Z0-9]+/g, '');
}

/** A text in capital letters. Full-width forms and the digits of other scripts become those of ASCII. */
function toAscii(text: string): string {
  const ascii = text.normalize('NFKC').replaceAll(digitsBeyondAscii, (digit) => String(valueOfDigit(digit)));
  return ascii.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const digitsBeyondAscii = /[^\P{Nd}0-9]/gu;

/** The digits of a script follow each other, from zero on. */
function valueOfDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}
