import * as z from 'zod';
import type { ListedBank } from '../../banks/listed-bank.ts';
import { buildIban, ibanRuleStates } from '../../iban/build-iban.ts';
import { countryName, findCountryCode } from '../../iban/country-name.ts';
import { compactIban, describeIbanProblem, findIbanProblems, type IbanParts, parseIban } from '../../iban/iban.ts';
import { type IbanFieldName, type IbanFieldProblem, ibanFields } from '../../iban/iban-fields.ts';
import { type CountryFormat, findCountryFormat } from '../../iban/registry.ts';
import type { BankDirectory } from '../bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject, repeated } from './answer.ts';
import { originSchema, toOrigin } from './swift-codes.ts';

/** The result for an IBAN. Absent parts are empty strings. */
export const ibanValidationSchema = z.object({
  valid: z.boolean(),
  message: z.string(),
  iban: z.string(),
  iban_data: z.object({
    country: z.string(),
    country_code: z.string(),
    sepa_country: z.boolean(),
    checksum: z.string(),
    BBAN: z.string(),
    bank_code: z.string(),
    account_number: z
      .string()
      .describe(
        'The BBAN after bank code and branch, with the national check digits: the contract does not exclude them (ES).',
      ),
    branch: z.string(),
    national_checksum: z.string(),
    country_iban_format_as_swift: z.string(),
    country_iban_format_as_regex: z.string(),
  }),
  bank_data: z.object({
    bank_code: z.string(),
    name: z.string(),
    zip: z.string(),
    city: z.string(),
    bic: z.string(),
    ...originSchema.shape,
  }),
  country_iban_example: z.string(),
});

export const ibanGenerationSchema = ibanValidationSchema.extend({
  iban_rule: z
    .enum(ibanRuleStates)
    .describe('UNKNOWN: no list has the IBAN rule of the German bank, so it may use another IBAN for the account.'),
});

export type IbanValidationBody = z.infer<typeof ibanValidationSchema>;

/**
 * `iban_validate`: an IBAN with the right structure is answered with its parts even if its check digits are wrong;
 * others are rejected.
 */
export function answerIbanValidation(
  query: Query,
  { findBank }: Pick<BankDirectory, 'findBank'>,
): Answer<IbanValidationBody> {
  const text = readText(query, 'iban_number');
  const iban = compactIban(text ?? '');
  const problem = findTextProblem(text && iban, 'iban_number');
  if (problem !== null) return reject({ iban_number: [problem] });

  const messages = findIbanProblems(iban).map((ibanProblem) => describeIbanProblem(ibanProblem, iban));
  const parts = parseIban(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return reject({ iban_number: messages });
  return answer({
    valid: messages.length === 0,
    message: messages.length === 0 ? 'IBAN number is valid.' : `IBAN number is not valid. ${messages.join(' ')}`,
    iban,
    iban_data: toIbanData(parts, format),
    bank_data: toBankData(parts.bankCode, findBank(parts.countryCode, parts.bankCode, parts.branch)),
    country_iban_example: format.example,
  });
}

function toIbanData(parts: IbanParts, format: CountryFormat): IbanValidationBody['iban_data'] {
  return {
    country: countryName(parts.countryCode) ?? '',
    country_code: parts.countryCode,
    sepa_country: format.sepa,
    checksum: parts.checkDigits,
    BBAN: parts.bban,
    bank_code: parts.bankCode,
    account_number: parts.bbanRemainder,
    branch: parts.branch ?? '',
    national_checksum: parts.nationalCheckDigits ?? '',
    country_iban_format_as_swift: format.format,
    country_iban_format_as_regex: format.regex.source,
  };
}

function toBankData(bankCode: string, bank: ListedBank | null): IbanValidationBody['bank_data'] {
  return {
    bank_code: bankCode,
    name: bank?.name ?? '',
    zip: bank?.zip ?? '',
    city: bank?.city ?? '',
    bic: bank?.bic ?? '',
    ...toOrigin(bank),
  };
}

/** `iban_generate`: builds an IBAN and returns what `iban_validate` returns for it, and what is known of the rule of the bank. */
export function answerIbanGeneration(
  query: Query,
  directory: BankDirectory,
): Answer<z.infer<typeof ibanGenerationSchema>> {
  const names = ['country', ...Object.values(wireFieldNames)].filter((name) => readText(query, name) === null);
  if (names.length > 0) return reject(Object.fromEntries(names.map((name) => [name, [repeated(name)]])));
  const country = readText(query, 'country') ?? '';
  const values = {
    country: findCountryCode(country) ?? country,
    bankCode: readText(query, wireFieldNames.bankCode),
    branch: readText(query, wireFieldNames.branch),
    accountNumber: readText(query, wireFieldNames.accountNumber),
  };
  const built = buildIban(values, directory.findIbanRule);
  if (built.kind === 'invalid') return reject(toWireErrors(built.problems));
  const validation = answerIbanValidation({ iban_number: built.iban }, directory);
  return validation.status === 200 ? answer({ ...validation.body, iban_rule: built.rule }) : validation;
}

/** The messages by field. */
function toWireErrors(problems: readonly IbanFieldProblem[]): Record<string, readonly string[]> {
  const messages: Record<string, readonly string[]> = {};
  for (const { field, message } of problems) {
    const name = field === 'country' ? field : wireFieldNames[field];
    messages[name] = [...(messages[name] ?? []), message];
  }
  return messages;
}

/** Field names on the wire. */
const wireFieldNames: Readonly<Record<IbanFieldName, string>> = {
  bankCode: 'bank_code',
  branch: 'branch',
  accountNumber: 'account_number',
};

const ibanFieldSchema = z.object({ field: z.string(), length: z.int(), characters: z.string() });

export const ibanFieldsSchema = z.object({ fields: z.array(ibanFieldSchema).readonly() });

export const ibanStructureSchema = ibanFieldsSchema.extend({
  country: z.string(),
  country_code: z.string(),
  sepa_country: z.boolean(),
  length: z.int(),
  country_iban_format_as_swift: z.string(),
  country_iban_format_as_regex: z.string(),
  country_iban_example: z.string(),
});

/** `iban_fields`: the fields that an IBAN of the country is generated from. */
export function answerIbanFields(query: Query): Answer<z.infer<typeof ibanFieldsSchema>> {
  const format = readFormat(query);
  return typeof format === 'string' ? reject({ country: [format] }) : answer({ fields: toWireFields(format) });
}

/** `iban_structure`: the IBAN format of the country, with an example. */
export function answerIbanStructure(query: Query): Answer<z.infer<typeof ibanStructureSchema>> {
  const format = readFormat(query);
  if (typeof format === 'string') return reject({ country: [format] });
  return answer({
    country: countryName(format.country) ?? '',
    country_code: format.country,
    sepa_country: format.sepa,
    length: format.length,
    country_iban_format_as_swift: format.format,
    country_iban_format_as_regex: format.regex.source,
    country_iban_example: format.example,
    fields: toWireFields(format),
  });
}

/** Reads the format of the country with this code or English name, or returns the problem of the parameter. */
function readFormat(query: Query): CountryFormat | string {
  const text = readText(query, 'country');
  const problem = findTextProblem(text, 'country');
  if (problem !== null) return problem;
  const format = findCountryFormat(findCountryCode(text ?? '') ?? '');
  return format ?? 'No country with this code or name has IBANs; use a code such as DE.';
}

function toWireFields({ country }: CountryFormat): readonly z.infer<typeof ibanFieldSchema>[] {
  return ibanFields(country).map(({ name, length, characters }) => ({
    field: wireFieldNames[name],
    length,
    characters,
  }));
}
