import type { PaymentScheme } from '../../banks/scheme-registers.ts';
import { findBicProblems, matchBic } from '../../iban/bic.ts';
import { isValidIban } from '../../iban/iban.ts';
import { type BankFacts, knownBics } from '../bank-facts.ts';
import { find, ibanOf, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import type { RuleCode } from './rules.ts';

/** Compares the BIC of each agent in a part with the bank of the account beside it. */
export function checkBics(part: XmlElement, findings: MessageFindings, banks: BankFacts): void {
  for (const party of ['Dbtr', 'Cdtr']) {
    const iban = ibanOf(find(part, `${party}Acct`));
    const institution = find(part, `${party}Agt`, 'FinInstnId');
    const bic = find(institution, 'BICFI') ?? find(institution, 'BIC');
    if (bic === null || !isRealBic(bic.text) || !isValidIban(iban)) continue;
    findings.addAnswered(bic, iban, (answer) => {
      const known = knownBics(iban, answer, banks);
      if (matchBic(bic.text, known) !== 'OTHER_BANK') return null;
      const message =
        'The BIC is that of another bank than the IBAN. Check both, or leave the BIC out: the IBAN decides.';
      return { code: 'BIC_OF_OTHER_BANK', message, suggestion: known[0] ?? null };
    });
  }
}

function isRealBic(text: string): boolean {
  return text !== 'NOTPROVIDED' && findBicProblems(text).length === 0;
}

interface SchemeChecks {
  findings: MessageFindings;
  banks: BankFacts;
  version: MessageVersion;
}

/** Whether the bank of the other party takes part in the scheme of a SEPA payment, and verifies payees, by the imported registers. */
export function checkSchemes(
  payment: XmlElement,
  transaction: XmlElement,
  { findings, banks, version: { isDirectDebit, other } }: SchemeChecks,
): void {
  if (banks.schemes === undefined || !findings.isSepa) return;
  const account = find(transaction, `${other}Acct`);
  const iban = ibanOf(account);
  if (!isValidIban(iban)) return;
  report('NOT_IN_SCHEME', schemeOf(payment, transaction, isDirectDebit), '');
  // Names are verified before a credit transfer, not before a direct debit.
  if (!isDirectDebit) report('VERIFICATION_NOT_OFFERED', 'VOP', ' The name of the payee is not compared.');

  function report(code: RuleCode, scheme: PaymentScheme, consequence: string): void {
    findings.addAnswered(find(account, 'Id', 'IBAN') ?? transaction, iban, (answer) => {
      const [bic] = knownBics(iban, answer, banks);
      const listed = bic === undefined ? undefined : banks.schemes?.(bic)?.find((each) => each.scheme === scheme);
      if (listed === undefined || listed.takesPart) return null;
      const text = `The bank of the IBAN does not take part in ${schemeNames[scheme]}, by the register of ${listed.registerDate}.`;
      return { code, message: `${text}${consequence}` };
    });
  }
}

function schemeOf(payment: XmlElement, transaction: XmlElement, isDirectDebit: boolean): PaymentScheme {
  const instrument = [transaction, payment].map((part) => textOf(find(part, 'PmtTpInf', 'LclInstrm', 'Cd')));
  if (isDirectDebit) return instrument.includes('B2B') ? 'SDD_B2B' : 'SDD_CORE';
  return instrument.includes('INST') ? 'SCT_INST' : 'SCT';
}

const schemeNames: Readonly<Record<PaymentScheme, string>> = {
  SCT: 'SEPA Credit Transfer',
  SCT_INST: 'SEPA Instant Credit Transfer',
  SDD_CORE: 'SEPA Direct Debit Core',
  SDD_B2B: 'SEPA Direct Debit B2B',
  VOP: 'Verification of Payee',
};
