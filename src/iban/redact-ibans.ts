/**
 * Two letters, two digits, then groups of four as IBANs are written, with or without spaces or hyphens between.
 * A UUID can begin the same way and is left alone: request ids must stay readable.
 */
const IBAN_LIKE =
  /(?<![A-Za-z0-9])(?![0-9a-f]{8}-[0-9a-f]{4}-)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![A-Za-z0-9])/g;

/** The text with everything that reads like an IBAN replaced: an IBAN is personal data. */
export function redactIbans(text: string): string {
  return text.replace(IBAN_LIKE, '[IBAN]');
}
