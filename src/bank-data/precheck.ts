import { countryName } from '../countries/country-name.ts';
import { findBicProblems } from '../iban/bic.ts';
import { buildIban } from '../iban/build-iban.ts';
import { findIbanProblems, parseIban } from '../iban/iban.ts';
import { findCountryFormat } from '../iban/registry.ts';
import type { BankDataPort, BicValidation, IbanData, IbanValidation } from './bank-data.ts';

/** Answers what arithmetic alone can answer, so that what cannot succeed never costs a paid call. */
export function withPrecheck(bankData: BankDataPort): BankDataPort {
  return {
    ...bankData,
    validateIbans: (ibans, caller) =>
      answerRest(ibans, findImpossibleIban, (possible) => bankData.validateIbans(possible, caller)),
    validateBics: (bics, caller) =>
      answerRest(bics, findImpossibleBic, (possible) => bankData.validateBics(possible, caller)),
    async generateIban(source, caller) {
      const generated = buildIban(source);
      if (generated.kind === 'iban') return bankData.generateIban(source, caller);
      const message = generated.problems.map((problem) => problem.message).join(' ');
      return { kind: 'invalid', message, faults: generated.problems };
    },
  };
}

/** Hands on what the check lets through, and puts the answers back in the order asked. */
async function answerRest<Answer>(
  keys: readonly string[],
  check: (key: string) => Answer | null,
  lookUp: (keys: readonly string[]) => Promise<readonly (Answer | Error)[]>,
): Promise<readonly (Answer | Error)[]> {
  const checked = keys.map((key) => ({ key, answer: check(key) }));
  const possible = checked.filter(({ answer }) => answer === null).map(({ key }) => key);
  const answers = possible.length > 0 ? await lookUp(possible) : [];
  let next = 0;
  return checked.map(({ answer }) => answer ?? answers[next++] ?? new Error('a look-up was not answered'));
}

function findImpossibleIban(iban: string): IbanValidation | null {
  const problems = findIbanProblems(iban);
  if (problems.length === 0) return null;
  const countryIbanExample = findCountryFormat(iban.slice(0, 2))?.example ?? null;
  return { iban, valid: false, problems, ibanData: describe(iban), bankData: null, countryIbanExample };
}

function findImpossibleBic(bic: string): BicValidation | null {
  const problems = findBicProblems(bic);
  return problems.length === 0 ? null : { bic, valid: false, problems, bank: null };
}

/** What the registry tells of an IBAN that comes apart, as one does whose check digits alone are wrong. */
function describe(iban: string): IbanData | null {
  const parts = parseIban(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return null;
  return {
    country: countryName(format.country),
    countryCode: format.country,
    sepaCountry: format.sepa,
    checksum: parts.checkDigits,
    bban: parts.bban,
    bankCode: parts.bankCode,
    accountNumber: parts.bbanRemainder,
    branch: parts.branch,
    nationalChecksum: parts.nationalCheckDigits,
    countryIbanFormatAsSwift: format.format,
    countryIbanFormatAsRegex: format.regex.source,
  };
}
