import { compactBic, findBicProblems } from '../../../../iban/bic.ts';
import type { CodeRule } from './bank-file-format.ts';

/** The text of a cell without white space around it, and with single spaces inside. */
export function cellText(cell: string | number): string {
  return String(cell).replace(/\s+/g, ' ').trim();
}

/** The bank code in a cell as it stands in IBANs; null where it does not follow the rule. */
export function readCode(cell: string | number, rule: CodeRule): string | null {
  const { pattern, padTo = 0, padNumbersTo = 0, take = (whole) => whole } = rule;
  const code = typeof cell === 'number' ? String(cell).padStart(padNumbersTo, '0') : cellText(cell);
  return pattern.test(code) ? take(code.padStart(padTo, '0')) : null;
}

/** The BIC in a text; empty where there is none, null where it is malformed. */
export function readBic(text: string): string | null {
  const bic = compactBic(text);
  return bic === '' || findBicProblems(bic).length === 0 ? bic : null;
}
