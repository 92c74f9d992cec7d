import { countryName } from '../../../iban/country-name.ts';
import { compactIban } from '../../../iban/iban.ts';
import { type IbanField, ibanFields } from '../../../iban/iban-fields.ts';
import { type CountryFormat, countryFormats, findCountryFormat } from '../../../iban/registry.ts';
import { builder, IbanType } from './builder.ts';
import { assumeSize } from './directives.ts';
import { entityKey, readKey, resolveReference } from './entities.ts';
import { bankDataScope, maxLengths, requireText } from './field-checks.ts';

const FieldCharactersType = builder.enumType('FieldCharacters', {
  description: 'The characters allowed in a part of an IBAN.',
  values: {
    DIGITS: { value: 'digits', description: '0-9.' },
    LETTERS: { value: 'letters', description: 'A-Z.' },
    LETTERS_AND_DIGITS: { value: 'letters and digits', description: 'A-Z and 0-9.' },
  } as const,
});

const IbanFieldType = builder.objectRef<IbanField>('IbanField').implement({
  description: 'An input field that generateIban needs for a country.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Field of GenerateIbanInput: bankCode, branch or accountNumber.' }),
    length: t.exposeInt('length', { description: 'Number of characters.' }),
    characters: t.expose('characters', { type: FieldCharactersType, description: 'The allowed characters.' }),
    isPadded: t.exposeBoolean('padded', {
      description: 'Whether a shorter value is accepted and padded with zeros on the left.',
    }),
  }),
});

export const IbanCountryType = builder.objectRef<CountryFormat>('IbanCountry');

IbanCountryType.implement({
  directives: [entityKey('code')],
  extensions: {
    cacheScope: 'public',
    ...bankDataScope,
    ...resolveReference(({ code }) => findCountryFormat(compactIban(readKey('code', code, maxLengths.country)))),
  },
  description: 'The IBAN format of a country, from the SWIFT IBAN registry. Needs no upstream call.',
  fields: (t) => ({
    code: t.exposeID('country', { description: 'ISO 3166-1 alpha-2 code; XK for Kosovo.' }),
    name: t.string({
      description: 'Name of the country, in English.',
      resolve: ({ country }) => countryName(country) ?? country,
    }),
    isSepa: t.exposeBoolean('sepa', { description: 'Whether the country takes part in SEPA.' }),
    ibanLength: t.exposeInt('length', { description: 'Number of characters of an IBAN, including the country code.' }),
    ibanFormatAsSwift: t.exposeString('format', {
      description: 'The format in SWIFT notation: 4!n is 4 digits, 4!a is 4 letters, 4!c is 4 letters or digits.',
    }),
    ibanFormatAsRegex: t.string({
      description: 'The format as a regular expression for an IBAN without spaces.',
      resolve: ({ regex }) => regex.source,
    }),
    ibanExample: t.expose('example', {
      type: IbanType,
      description: 'A valid IBAN with a fictitious account, and with this code.',
    }),
    ibanFields: t.field({
      type: [IbanFieldType],
      extensions: { maxItems: 3 },
      description:
        'The input fields that generateIban needs, in the order of the IBAN. A territory has those of its parent, whose code ' +
        'generateIban needs too.',
      resolve: ({ country }) => ibanFields(country),
    }),
    territories: t.field({
      type: [IbanCountryType],
      extensions: { maxItems: Math.max(...countryFormats().map(({ territories }) => territories.length)) },
      description:
        "Territories whose banks use IBANs of this country. IBANs with a territory's own code are valid too.",
      resolve: ({ territories }) => territories.flatMap((code) => findCountryFormat(code) ?? []),
    }),
    parent: t.field({
      type: IbanCountryType,
      nullable: true,
      description: 'The country whose IBANs the banks of this territory use; null if this is not a territory.',
      resolve: ({ parent }) => (parent === null ? null : findCountryFormat(parent)),
    }),
  }),
});

builder.queryField('country', (t) =>
  t.field({
    extensions: bankDataScope,
    type: IbanCountryType,
    nullable: true,
    description:
      'The IBAN format of a country or territory; null if it is not in the SWIFT registry. Needs no upstream call.',
    args: {
      code: t.arg.string(requireText('country', maxLengths.country, 'ISO 3166-1 alpha-2 code; case is ignored.')),
    },
    resolve: (_, { code }) => findCountryFormat(compactIban(code)),
  }),
);

builder.queryField('countries', (t) =>
  t.field({
    extensions: bankDataScope,
    type: [IbanCountryType],
    directives: [assumeSize(countryFormats().length)],
    description:
      'The countries of the SWIFT IBAN registry, sorted by code, without territories. Needs no upstream call.',
    args: {
      isSepa: t.arg.boolean({ description: 'True: only SEPA countries; false: only others; null: all.' }),
    },
    resolve: (_, { isSepa }) => countryFormats().filter(({ sepa }) => isSepa == null || sepa === isSepa),
  }),
);
