import * as z from 'zod';
import { countryName, findCountryCode } from '../../../countries/country-name.ts';
import { type IbanFieldName, ibanFields } from '../../../iban/build-iban.ts';
import { type CountryFormat, findCountryFormat } from '../../../iban/registry.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject } from './answer.ts';

/** Field names on the wire. */
export const wireFieldNames: Readonly<Record<IbanFieldName, string>> = {
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
