import type { KnownBanks } from '../banks/known-banks.ts';
import { compactBic } from '../iban/bic.ts';
import type { CheckResult } from '../iban/german-account-checks.ts';
import { parseIban } from '../iban/iban.ts';
import { nationalCheck } from '../iban/national-checks.ts';
import type { Answer } from './answers/answers.ts';

/** What the bank lists of this machine say. */
export type BankFacts = Pick<KnownBanks, 'has' | 'accountCheckMethod' | 'bics'> &
  Partial<Pick<KnownBanks, 'schemes' | 'status'>>;

/** The national check digits of a well-formed IBAN. */
export function checkNationally(iban: string, banks: Pick<BankFacts, 'accountCheckMethod'>): CheckResult {
  const method = iban.startsWith('DE') ? banks.accountCheckMethod(iban.slice(4, 12)) : null;
  return nationalCheck(iban, { germanMethod: method });
}

/** All BICs of the bank of an IBAN: that of the service, and those of the bank lists; empty if the IBAN is not valid. */
export function knownBics(iban: string, answer: Answer | null, banks: Pick<BankFacts, 'bics'>): readonly string[] {
  const parts = parseIban(iban);
  if (parts === null || answer === null || (answer.kind === 'answered' && !answer.valid)) return [];
  const answered = answer.kind === 'answered' && answer.bic ? [compactBic(answer.bic)] : [];
  return [...answered, ...banks.bics(parts.countryCode, parts.bankCode)];
}
