import { findBicProblems } from '../../iban/bic.ts';
import { buildIban } from '../../iban/build-iban.ts';
import { countryName } from '../../iban/country-name.ts';
import { findIbanProblems, parseIban } from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import type { BankDataPort, IbanData } from './bank-data.ts';

/** Answers locally for IBANs, BICs and fields that cannot be valid, so that they never cost a paid call. */
export function withPrecheck(source: BankDataPort): BankDataPort {
  return {
    ...source,
    validateIban(iban, context) {
      const problems = findIbanProblems(iban);
      if (problems.length === 0) return source.validateIban(iban, context);
      return Promise.resolve({ iban, valid: false, problems, ibanData: toIbanData(iban), bankData: null });
    },
    validateBic(bic, context) {
      const problems = findBicProblems(bic);
      if (problems.length === 0) return source.validateBic(bic, context);
      return Promise.resolve({ bic, valid: false, problems, bank: null });
    },
    async generateIban(values, context) {
      const built = buildIban(values);
      if (built.kind === 'iban') return source.generateIban({ ...values, ...built.fields }, context);
      return { ...built, message: built.problems.map(({ message }) => message).join(' ') };
    },
  };
}

/** The parts according to the registry, if only the check digits are wrong; null if the structure is wrong. */
function toIbanData(iban: string): IbanData | null {
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
