import type { IbanFieldValues } from '../../iban/build-iban.ts';
import { compactIban, findIbanProblems, isValidIban } from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import type { RequestContext } from '../../request-context.ts';
import type { IbanGeneration, IbanValidation } from '../bank-data.ts';
import type { CallEndpoint, Endpoint } from './endpoint-call.ts';
import { type IbanAnswer, isAboutIban, readIban, readIbanAnswer } from './wire-iban-validation.ts';

/** The contract does not say whether an invalid IBAN gets 200 or 422, so both are accepted. */
export function requestIbanValidation(
  callEndpoint: CallEndpoint,
  iban: string,
  context: RequestContext,
): PromiseLike<IbanValidation> {
  return callEndpoint(validation, { input: iban, query: { iban_number: iban } }, context);
}

const validation: Endpoint<string, IbanValidation> = {
  path: '/bank_data/iban_validate',
  isAbout: isAboutIban,
  read(body, iban) {
    const answer = readIbanAnswer(body, iban);
    return answer && toValidation(iban, answer);
  },
  answer422: (iban) => toValidation(iban, invalidIban),
};

/** Generates an IBAN. A response with an invalid IBAN, one of another country, or none is unreadable if it reports it as valid. */
export function requestIbanGeneration(
  callEndpoint: CallEndpoint,
  { country, bankCode, branch, accountNumber }: IbanFieldValues,
  context: RequestContext,
): PromiseLike<IbanGeneration> {
  const query = { country, bank_code: bankCode, branch, account_number: accountNumber };
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return callEndpoint(generation, { input: country, query: Object.fromEntries(given) }, context);
}

/** Its input is the country. */
const generation: Endpoint<string, IbanGeneration> = {
  path: '/bank_data/iban_generate',
  read(body, country) {
    const iban = compactIban(readIban(body) ?? '');
    const answer = readIbanAnswer(body, iban);
    if (answer === null) return null;
    if (!answer.valid) return invalidFields;
    return isValidIban(iban) && iban.startsWith(country)
      ? { kind: 'iban', validation: toValidation(iban, answer) }
      : null;
  },
  answer422: () => invalidFields,
  isOptional: true,
};

const invalidIban: IbanAnswer = { valid: false, ibanData: null, bankData: null, countryIbanExample: null };

const invalidFields: IbanGeneration = {
  kind: 'invalid',
  message:
    'The bank-data service cannot generate an IBAN from these fields. Check the bank code and the account number.',
  problems: [],
};

/** Adds why the IBAN is invalid and, if the service returned none, an example IBAN of its country. */
function toValidation(iban: string, answer: IbanAnswer): IbanValidation {
  const { valid, ibanData, bankData } = answer;
  const countryIbanExample = answer.countryIbanExample ?? findCountryFormat(iban.slice(0, 2))?.example ?? null;
  return { iban, valid, problems: valid ? noProblems : findRejection(iban), ibanData, bankData, countryIbanExample };
}

const noProblems: IbanValidation['problems'] = [];

function findRejection(iban: string): IbanValidation['problems'] {
  const problems = findIbanProblems(iban);
  return problems.length > 0 ? problems : ['REJECTED_BY_SERVICE'];
}
