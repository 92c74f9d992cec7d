/** Without spaces, dashes and what cannot be seen, in upper case: two spellings of one IBAN are one question. */
export function compactIban(text: string): string {
  return text
    .replace(/[\s\p{Dash_Punctuation}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Country code, check digits, and as much of an account as the shortest IBANs (15 characters) to the longest have. */
export function couldBeIban(iban: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban);
}

/** In groups of four, as IBANs are printed. */
export function printIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

/** One per line, or between commas or semicolons, however they are spaced. */
export function readIbans(text: string): string[] {
  return text
    .split(/[\n,;]+/)
    .map(compactIban)
    .filter((iban) => iban !== '');
}
