import type { PaymentScheme } from '../../banks/scheme-registers.ts';
import { compactIban, isValidIban } from '../../iban/iban.ts';
import type { Answers } from '../answers/answers.ts';
import { type BankFacts, knownBics } from '../bank-facts.ts';
import { find, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import type { RuleCode } from './rules.ts';

interface SchemeChecks {
  findings: MessageFindings;
  answers: Pick<Answers, 'find'>;
  banks: BankFacts;
  isDirectDebit: boolean;
}

/** Whether the bank of the other party takes part in the scheme of a SEPA payment, and verifies payees, by the imported registers. */
export function checkSchemes(payment: XmlElement, transaction: XmlElement, checks: SchemeChecks): void {
  const { findings, answers, banks, isDirectDebit } = checks;
  if (banks.schemes === undefined || findings.scheme === 'iso' || findings.scheme === 'sps') return;
  const other = isDirectDebit ? 'Dbtr' : 'Cdtr';
  const element = find(transaction, `${other}Acct`, 'Id', 'IBAN');
  const iban = compactIban(element?.text ?? '');
  if (element === null || !isValidIban(iban)) return;
  report('NOT_IN_SCHEME', schemeOf(payment, transaction, isDirectDebit), '');
  // Names are verified before a credit transfer, not before a direct debit.
  if (!isDirectDebit) report('VERIFICATION_NOT_OFFERED', 'VOP', ' The name of the payee is not compared.');

  function report(code: RuleCode, scheme: PaymentScheme, consequence: string): void {
    if (element === null) return;
    findings.addAnswered(element, { iban, answer: answers.find(iban) }, (answer) => {
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
