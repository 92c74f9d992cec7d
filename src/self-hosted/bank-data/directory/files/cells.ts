import { compactBic, findBicProblems } from '../../../../iban/bic.ts';
import type { CodeRule } from './bank-file-format.ts';

/** The trimmed text of a cell, with single spaces. */
export function cellText(cell: string | number): string {
  return String(cell).replace(/\s+/g, ' ').trim();
}

/** The bank code in a cell, as IBANs contain it; null if it does not follow the rule. */
export function readCode(cell: string | number, rule: CodeRule): string | null {
  const { pattern, padTo = 0, padNumbersTo = 0, extract = (whole) => whole } = rule;
  const code = typeof cell === 'number' ? String(cell).padStart(padNumbersTo, '0') : cellText(cell);
  return pattern.test(code) ? extract(code.padStart(padTo, '0')) : null;
}

/** The BIC in a text; empty if there is none, null if it is invalid. */
export function readBic(text: string): string | null {
  const bic = compactBic(text);
  return bic === '' || findBicProblems(bic).length === 0 ? bic : null;
}
