import { findBicProblems } from '../../iban/bic.ts';
import { buildIban } from '../../iban/build-iban.ts';
import { countryName } from '../../iban/country-name.ts';
import { findIbanProblems, parseIban } from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import type { RequestContext } from '../request-context.ts';
import type { BankDataPort, BicValidation, IbanData, IbanValidation } from './bank-data.ts';

/** Answers locally for IBANs, BICs and fields that cannot be valid, so that they never cost a paid call. */
export function withPrecheck(source: BankDataPort): BankDataPort {
  return {
    ...source,
    validateIbans: (ibans, context) => answerLocally(ibans, context, answerIban, source.validateIbans),
    validateBics: (bics, context) => answerLocally(bics, context, answerBic, source.validateBics),
    async generateIban(values, context) {
      const built = buildIban(values);
      if (built.kind === 'iban') return source.generateIban({ ...values, ...built.fields }, context);
      return { ...built, message: built.problems.map(({ message }) => message).join(' ') };
    },
  };
}

/** The answers in the order of the inputs; those that are null are looked up in one batch. */
function answerLocally<Answer>(
  inputs: readonly string[],
  context: RequestContext,
  answer: (input: string) => Answer | null,
  lookUp: (inputs: readonly string[], context: RequestContext) => readonly Promise<Answer>[],
): readonly Promise<Answer>[] {
  const local = inputs.map(answer);
  if (!local.some(Boolean)) return lookUp(inputs, context);
  const possible = inputs.filter((_, index) => local[index] === null);
  const lookedUp = possible.length === 0 ? [] : [...lookUp(possible, context)];
  return local.map((known) => (known === null ? lookedUp.shift() : null) ?? Promise.resolve(known as Answer));
}

/** The answer for an IBAN that cannot be valid. */
function answerIban(iban: string): IbanValidation | null {
  const problems = findIbanProblems(iban);
  if (problems.length === 0) return null;
  return { iban, valid: false, problems, ibanData: toIbanData(iban), bankData: null };
}

function answerBic(bic: string): BicValidation | null {
  const problems = findBicProblems(bic);
  return problems.length === 0 ? null : { bic, valid: false, problems, bank: null };
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
