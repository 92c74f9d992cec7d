import { countryName } from '../../countries/country-name.ts';
import { ibanFields } from '../../iban/build-iban.ts';
import { compactIban } from '../../iban/iban.ts';
import type { IbanField } from '../../iban/iban-fields.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../iban/registry.ts';
import { builder } from './builder.ts';
import { readKey } from './entities.ts';

const FieldCharactersType = builder.enumType('FieldCharacters', {
  description: 'Which characters a part of an IBAN has.',
  values: {
    DIGITS: { value: 'digits', description: '0 to 9.' },
    LETTERS: { value: 'letters', description: 'A to Z.' },
    LETTERS_AND_DIGITS: { value: 'letters and digits', description: 'A to Z and 0 to 9.' },
  } as const,
});

const IbanFieldType = builder.objectRef<IbanField>('IbanField').implement({
  description: 'Something that has to be known before an IBAN of a country can be generated.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The field of GenerateIbanInput: bankCode, branch or accountNumber.' }),
    length: t.exposeInt('length', { description: 'How many characters it has.' }),
    characters: t.expose('characters', { type: FieldCharactersType, description: 'Which characters it has.' }),
    padded: t.exposeBoolean('padded', {
      description: 'Whether it may be shorter; it is then filled up with zeros on the left.',
    }),
  }),
});

export const IbanCountryType = builder.objectRef<CountryFormat>('IbanCountry');

IbanCountryType.implement({
  extensions: { cacheScope: 'public' },
  description: 'How a country writes its IBANs, by the SWIFT registry. Costs no upstream call.',
  fields: (t) => ({
    code: t.exposeID('country', { description: 'ISO 3166-1 alpha-2 code; XK for Kosovo.' }),
    name: t.string({
      description: 'Name of the country, in English.',
      resolve: ({ country }) => countryName(country) ?? country,
    }),
    sepa: t.exposeBoolean('sepa', { description: 'Whether payments from and to it go through SEPA.' }),
    ibanLength: t.exposeInt('length', { description: 'How many characters an IBAN has, country code included.' }),
    ibanFormatAsSwift: t.exposeString('format', {
      description: 'The format in the notation of the SWIFT registry: k!n is k digits, k!a k letters, k!c k of either.',
    }),
    ibanFormatAsRegex: t.string({
      description: 'The format as a regular expression over an IBAN without spaces.',
      resolve: ({ regex }) => regex.source,
    }),
    ibanExample: t.exposeString('example', { description: 'A valid IBAN whose account is made up.' }),
    ibanFields: t.field({
      type: [IbanFieldType],
      description: 'What has to be known before an IBAN can be generated, in the order of the IBAN.',
      resolve: ({ country }) => ibanFields(country),
    }),
    territories: t.field({
      type: [IbanCountryType],
      description: 'Territories that use this format under a country code of their own.',
      resolve: ({ territories }) => territories.flatMap((code) => findCountryFormat(code) ?? []),
    }),
    parent: t.field({
      type: IbanCountryType,
      nullable: true,
      description: 'The country whose format a territory uses; null where it is no territory.',
      resolve: ({ parent }) => (parent === null ? null : findCountryFormat(parent)),
    }),
  }),
});

builder.asEntity(IbanCountryType, {
  key: builder.selection<{ code: string }>('code'),
  resolveReference: ({ code }) => findCountryFormat(compactIban(readKey('code', code))),
});

builder.queryField('country', (t) =>
  t.field({
    type: IbanCountryType,
    nullable: true,
    description: 'How a country or territory writes its IBANs; null where it has none. Costs no upstream call.',
    args: { code: t.arg.string({ required: true, description: 'ISO 3166-1 alpha-2 code, in any case.' }) },
    resolve: (_, { code }) => findCountryFormat(compactIban(code)),
  }),
);

builder.queryField('countries', (t) =>
  t.field({
    type: [IbanCountryType],
    listSize: { assumedSize: countryFormats().length },
    description:
      'The countries of the SWIFT registry in the order of their codes, without territories. Costs no upstream call.',
    args: { sepa: t.arg.boolean({ description: 'Only those in SEPA, or only those outside.' }) },
    resolve: (_, { sepa }) => countryFormats().filter((format) => sepa == null || format.sepa === sepa),
  }),
);
