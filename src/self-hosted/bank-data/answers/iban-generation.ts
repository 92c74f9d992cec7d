import { findCountryCode } from '../../../countries/country-name.ts';
import { buildIban, type IbanFieldProblem } from '../../../iban/build-iban.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, type Query, readText, reject } from './answer.ts';
import { wireFieldNames } from './iban-structure.ts';
import { answerIbanValidation, type IbanValidation } from './iban-validation.ts';

/** Answers the query of `iban_generate` with what `iban_validate` answers about the IBAN it makes. */
export function answerIbanGeneration(query: Query, directory: BankDirectory): Answer<IbanValidation> {
  const names = ['country', ...Object.values(wireFieldNames)];
  const repeated = names.filter((name) => readText(query, name) === null);
  if (repeated.length > 0) {
    return reject(Object.fromEntries(repeated.map((name) => [name, [`${name} must be given only once.`]])));
  }
  const country = readText(query, 'country') ?? '';
  const generated = buildIban({
    country: findCountryCode(country) ?? country,
    bankCode: readText(query, wireFieldNames.bankCode),
    branch: readText(query, wireFieldNames.branch),
    accountNumber: readText(query, wireFieldNames.accountNumber),
  });
  if (generated.kind === 'invalid') return reject(Object.fromEntries(generated.faults.map(toWireError)));
  return answerIbanValidation({ iban_number: generated.iban }, directory);
}

/** The sentence begins with the name of the field, which on the wire is another. */
function toWireError({ field, message }: IbanFieldProblem): [string, readonly string[]] {
  const name = field === 'country' ? field : wireFieldNames[field];
  return [name, [message.replace(field, name)]];
}
