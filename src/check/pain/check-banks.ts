import type { PaymentScheme } from '../../banks/scheme-registers.ts';
import { findBicProblems, matchBic } from '../../iban/bic.ts';
import { isValidIban } from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import { knownBics } from '../bank-facts.ts';
import type { RuleCode } from '../finding.ts';
import { isPostalAccount } from './check-references.ts';
import { readList } from './code-lists.ts';
import { find, ibanOf, idOf, textOf, type XmlElement } from './elements.ts';
import type { CheckContext, MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { findAmount, isSwissCountry, serviceLevelsOf } from './profiles.ts';

/** Compares the BIC of each agent in a part with the bank of the account beside it. */
export function checkBics(part: XmlElement, { findings, banks }: CheckContext): void {
  for (const party of ['Dbtr', 'Cdtr']) {
    const iban = ibanOf(find(part, `${party}Acct`));
    const institution = find(part, `${party}Agt`, 'FinInstnId');
    const bic = find(institution, 'BICFI') ?? find(institution, 'BIC');
    if (bic === null || bic.text === 'NOTPROVIDED' || findBicProblems(bic.text).length > 0 || !isValidIban(iban))
      continue;
    findings.addAnswered(bic, iban, (answer) => {
      const known = knownBics(iban, answer, banks);
      if (matchBic(bic.text, known) !== 'OTHER_BANK') return null;
      const message =
        'The BIC is that of another bank than the IBAN. Check both, or leave the BIC out: the IBAN decides.';
      return { code: 'BIC_OF_OTHER_BANK', message, suggestion: known[0] ?? null };
    });
  }
}

/**
 * What a transfer outside SEPA says of the payee: the bank, which an IBAN of Switzerland names already (chapter 3.12 of the Swiss guidelines),
 * and the address, which CBPR+, the guidelines of Swift, require.
 */
export function checkForeignTransfer(transaction: XmlElement, findings: MessageFindings): void {
  const isSwiss = findings.scheme === 'sps';
  const account = find(transaction, 'CdtrAcct');
  if (account === null || !(isSwiss || findings.scheme === 'dk-other')) return;
  if ([transaction.parent, transaction].flatMap(serviceLevelsOf).includes('SEPA')) return;
  const number = find(account, 'Id', 'Othr', 'Id');
  if (isPostalAccount(textOf(number) ?? '')) {
    const message = 'Payments to postal accounts ended on 30 September 2022. Ask the payee for the IBAN or QR-IBAN.';
    findings.add('POSTAL_ACCOUNT', number, message);
  }
  const institution = find(transaction, 'CdtrAgt', 'FinInstnId');
  const bic = textOf(find(institution, 'BICFI') ?? find(institution, 'BIC')) ?? '';
  const clearing = find(institution, 'ClrSysMmbId');
  const country = ibanOf(account).slice(0, 2);
  const isFound = isSwiss ? isSwissCountry(country) : country !== '';
  const isNamed = find(institution, 'Nm') !== null || idOf(find(institution, 'Othr', 'Id')) !== null;
  if (!isFound && bic === '' && clearing === null && !isNamed) {
    const advice = findCountryFormat(country)?.sepa ? ' or, to send euros, the service level SEPA' : '';
    const message = `The bank of the payee is missing. Write its BIC in CdtrAgt${advice}.`;
    findings.add('AGENT_MISSING', find(transaction, 'CdtrAgt') ?? transaction, message);
  }
  // Such as CHBCC.
  const bankCountry = country || bic.slice(4, 6) || textOf(find(clearing, 'ClrSysId', 'Cd'))?.slice(0, 2) || '';
  const currency =
    textOf(find(transaction, 'Amt', 'EqvtAmt', 'CcyOfTrf')) ?? findAmount(transaction, false)?.attributes.Ccy;
  const isNear = isSwiss ? isSwissCountry(bankCountry) : (findCountryFormat(bankCountry)?.sepa ?? false);
  const payee = find(transaction, 'Cdtr');
  const identity = find(payee, 'Id', 'OrgId');
  const known = find(payee, 'PstlAdr') ?? find(identity, 'AnyBIC') ?? find(identity, 'BICOrBEI');
  if (payee === null || known !== null || (isNear && (currency === 'EUR' || (isSwiss && currency === 'CHF')))) return;
  const message = 'The payee has no address, without which banks may refuse it. Add PstlAdr with TwnNm and Ctry.';
  findings.addProblem({ code: 'ADDRESS_MISSING', element: payee, path: 'PstlAdr', message });
}

/** Whether the bank of the other party takes part in the scheme of a SEPA payment, and verifies payees, by the imported registers. */
export function checkSchemes(
  transaction: XmlElement,
  { isDirectDebit, other }: MessageVersion,
  { findings, banks }: CheckContext,
): void {
  if (banks.schemes === undefined || !findings.isSepa) return;
  const account = find(transaction, `${other}Acct`);
  const iban = ibanOf(account);
  if (!isValidIban(iban)) return;
  report('NOT_IN_SCHEME', schemeOf(transaction, isDirectDebit), '');
  // Names are verified before a credit transfer, not before a direct debit.
  if (!isDirectDebit) report('VERIFICATION_NOT_OFFERED', 'VOP', ' The name of the payee is not compared.');

  function report(code: RuleCode, scheme: PaymentScheme, consequence: string): void {
    findings.addAnswered(find(account, 'Id', 'IBAN') ?? transaction, iban, (answer) => {
      const [bic] = knownBics(iban, answer, banks);
      const listed = bic === undefined ? undefined : banks.schemes?.(bic)?.find((each) => each.scheme === scheme);
      if (listed === undefined || listed.takesPart) return null;
      const text = `The bank of the IBAN does not take part in ${schemeNames.get(scheme)}, by the register of ${listed.registerDate}.`;
      return { code, message: `${text}${consequence}` };
    });
  }
}

function schemeOf(transaction: XmlElement, isDirectDebit: boolean): PaymentScheme {
  const instrument = [transaction, transaction.parent].map((part) => textOf(find(part, 'PmtTpInf', 'LclInstrm', 'Cd')));
  if (isDirectDebit) return instrument.includes('B2B') ? 'SDD_B2B' : 'SDD_CORE';
  return instrument.includes('INST') ? 'SCT_INST' : 'SCT';
}

const schemeNames = readList('payment scheme');
