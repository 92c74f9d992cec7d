/** Normalizes to upper case without spaces, dashes and invisible characters, as the gateway does. */
export function compactIban(text: string): string {
  return text
    .replace(/[\s\p{Dash_Punctuation}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Whether it has a country code, check digits, and between 15 and 34 characters. */
export function isPossibleIban(iban: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban);
}

/** In groups of four characters. */
export function formatIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

/** Splits at line breaks, commas and semicolons. */
export function readIbans(text: string): string[] {
  return text
    .split(/[\n,;]+/)
    .map(compactIban)
    .filter((iban) => iban !== '');
}
