import type { IbanFieldValues } from '../../iban/build-iban.ts';
import { compactIban, findIbanProblems, isValidIban } from '../../iban/iban.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import type { IbanGeneration, IbanValidation } from '../bank-data.ts';
import type { Ask } from './endpoint-call.ts';
import { readIban, readIbanAnswer, type WireIbanAnswer } from './wire-iban-validation.ts';

/** Whether "not valid" comes as 200 or as 422 is not documented: either way it is data. */
export async function requestIbanValidation(ask: Ask, iban: string): Promise<IbanValidation> {
  const answer = await ask({
    endpoint: 'iban_validate',
    query: { iban_number: iban },
    read: (body) => readIbanAnswer(body, iban),
    unprocessable: rejection,
  });
  return toValidation(iban, answer);
}

/** What the service makes of the fields; its IBAN counts only if it is one. */
export function requestIbanGeneration(
  ask: Ask,
  { country, bankCode, branch, accountNumber }: IbanFieldValues,
): Promise<IbanGeneration> {
  return ask<IbanGeneration>({
    endpoint: 'iban_generate',
    query: Object.fromEntries(
      Object.entries({ country, bank_code: bankCode, branch, account_number: accountNumber }).flatMap(
        ([name, value]) => (value ? [[name, value]] : []),
      ),
    ),
    read: (body) => {
      const iban = compactIban(readIban(body) ?? '');
      const answer = readIbanAnswer(body, iban);
      if (answer === null) return null;
      if (!answer.valid) return refusal;
      return isValidIban(iban) ? { kind: 'iban', validation: toValidation(iban, answer) } : null;
    },
    unprocessable: refusal,
    isOptional: true,
  });
}

const rejection: WireIbanAnswer = { valid: false, ibanData: null, bankData: null, countryIbanExample: null };

const refusal: IbanGeneration = {
  kind: 'invalid',
  message: 'The bank-data service makes no IBAN of these fields.',
  faults: [],
};

/** Adds what the service does not tell: why the IBAN is not valid, and how one of its country looks. */
function toValidation(iban: string, answer: WireIbanAnswer): IbanValidation {
  const countryIbanExample = answer.countryIbanExample ?? findCountryFormat(iban.slice(0, 2))?.example ?? null;
  if (answer.valid) return { iban, ...answer, problems: [], countryIbanExample };
  const problems = findIbanProblems(iban);
  return { iban, ...answer, problems: problems.length > 0 ? problems : ['REJECTED_BY_SERVICE'], countryIbanExample };
}
