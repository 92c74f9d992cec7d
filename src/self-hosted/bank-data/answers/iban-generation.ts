import { findCountryCode } from '../../../countries/country-name.ts';
import { buildIban, type IbanFieldProblem } from '../../../iban/build-iban.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, type Query, readText, reject, repeated } from './answer.ts';
import { wireFieldNames } from './iban-structure.ts';
import { answerIbanValidation, type IbanValidationBody } from './iban-validation.ts';

/** `iban_generate`: builds an IBAN and returns what `iban_validate` returns for it. */
export function answerIbanGeneration(query: Query, directory: BankDirectory): Answer<IbanValidationBody> {
  const names = ['country', ...Object.values(wireFieldNames)].filter((name) => readText(query, name) === null);
  if (names.length > 0) return reject(Object.fromEntries(names.map((name) => [name, [repeated(name)]])));
  const country = readText(query, 'country') ?? '';
  const built = buildIban({
    country: findCountryCode(country) ?? country,
    bankCode: readText(query, wireFieldNames.bankCode),
    branch: readText(query, wireFieldNames.branch),
    accountNumber: readText(query, wireFieldNames.accountNumber),
  });
  if (built.kind === 'invalid') return reject(Object.fromEntries(built.problems.map(toWireError)));
  return answerIbanValidation({ iban_number: built.iban }, directory);
}

/** The message starts with the name of the field, which is replaced by its name on the wire. */
function toWireError({ field, message }: IbanFieldProblem): [string, readonly string[]] {
  const name = field === 'country' ? field : wireFieldNames[field];
  return [name, [message.replace(field, name)]];
}
