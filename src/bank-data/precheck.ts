import { countryName } from '../countries/country-name.ts';
import { findBicProblems } from '../iban/bic.ts';
import { buildIban } from '../iban/build-iban.ts';
import { findIbanProblems, parseIban } from '../iban/iban.ts';
import { findCountryFormat } from '../iban/registry.ts';
import type { BankDataPort, BicValidation, IbanData, IbanValidation } from './bank-data.ts';

/** Answers impossible IBANs, BICs and fields locally, so that they never cost a paid call. */
export function withPrecheck(bankData: BankDataPort): BankDataPort {
  return {
    ...bankData,
    validateIban(iban, context) {
      const impossible = findImpossibleIban(iban);
      return impossible ? Promise.resolve(impossible) : bankData.validateIban(iban, context);
    },
    validateBic(bic, context) {
      const impossible = findImpossibleBic(bic);
      return impossible ? Promise.resolve(impossible) : bankData.validateBic(bic, context);
    },
    async generateIban(values, context) {
      const built = buildIban(values);
      if (built.kind === 'iban') return bankData.generateIban(values, context);
      return { ...built, message: built.problems.map(({ message }) => message).join(' ') };
    },
  };
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

/** The parts by the registry, for an IBAN whose check digits alone are wrong; null where its structure is wrong. */
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
