import type { IbanData, IbanValidation } from '../../bank-data/bank-data.ts';
import { compactIban } from '../../iban/iban.ts';
import { nationalCheck } from '../../iban/national-checks.ts';
import { findCountryFormat } from '../../iban/registry.ts';
import { suggestIbans } from '../../iban/suggest-ibans.ts';
import { BankDataType } from './bank.ts';
import { builder } from './builder.ts';
import { IbanCountryType } from './country.ts';
import { readKey } from './entities.ts';
import { paid, personalData } from './tags.ts';
import { assumedIbans, lookUpWeight } from './weights.ts';

const IbanProblemType = builder.enumType('IbanProblem', {
  description: 'Why an IBAN is not valid.',
  values: {
    ILLEGAL_CHARACTERS: { description: 'It contains characters other than A to Z and digits.' },
    UNKNOWN_COUNTRY: { description: 'It does not begin with the code of a country that has IBANs.' },
    WRONG_LENGTH: { description: 'It is shorter or longer than the IBANs of its country.' },
    WRONG_STRUCTURE: { description: 'A letter stands where its country has a digit, or the other way round.' },
    CHECK_DIGITS_OUT_OF_RANGE: { description: 'Its check digits are 00, 01 or 99, which are never issued.' },
    WRONG_CHECK_DIGITS: { description: 'Its check digits do not fit the rest: most likely a slip in typing.' },
    REJECTED_BY_SERVICE: {
      description: 'Its characters are in order, yet the bank-data service says that it is not valid.',
    },
  } as const,
});

const NationalCheckType = builder.enumType('NationalCheck', {
  description: 'What the national check digits inside an IBAN say.',
  values: {
    PASSED: { description: 'They fit.' },
    FAILED: { description: 'They do not fit: a reason to ask, not to refuse.' },
    NOT_APPLICABLE: { description: 'There are none, their rule is not known, or it does not cover this account.' },
  } as const,
});

const IbanDataType = builder.objectRef<IbanData>('IbanData').implement({
  description:
    'An IBAN taken apart by the bank-data service, or by the registry where only its check digits are wrong.',
  fields: (t) => ({
    country: t.exposeString('country', { nullable: true, description: 'Name of the country, in English.' }),
    countryCode: t.exposeString('countryCode', {
      description: 'ISO 3166-1 alpha-2 code of the country; XK for Kosovo.',
    }),
    sepaCountry: t.exposeBoolean('sepaCountry', {
      nullable: true,
      description: 'Whether the country takes part in SEPA; null where the service does not tell.',
    }),
    checksum: t.exposeString('checksum', { tag: personalData, description: 'The two check digits of the IBAN.' }),
    bban: t.exposeString('bban', {
      tag: personalData,
      description: 'The basic bank account number: the IBAN without its first four characters.',
    }),
    bankCode: t.exposeString('bankCode', { nullable: true, description: 'The national bank code inside the IBAN.' }),
    accountNumber: t.exposeString('accountNumber', {
      tag: personalData,
      nullable: true,
      description:
        'The BBAN after bank code and branch, national check digits included. What generateIban takes may be shorter: ' +
        'IbanCountry.ibanFields tells.',
    }),
    branch: t.exposeString('branch', {
      nullable: true,
      description: 'The branch code; null where the country has none.',
    }),
    nationalChecksum: t.exposeString('nationalChecksum', {
      tag: personalData,
      nullable: true,
      description: 'The national check digits; null where the country has none at a fixed place.',
    }),
    countryIbanFormatAsSwift: t.exposeString('countryIbanFormatAsSwift', {
      nullable: true,
      description: 'The format of the country in the notation of the SWIFT registry, such as DE2!n8!n10!n.',
    }),
    countryIbanFormatAsRegex: t.exposeString('countryIbanFormatAsRegex', {
      nullable: true,
      description: 'The format of the country as a regular expression over an IBAN without spaces.',
    }),
  }),
});

export const IbanValidationType = builder.objectRef<IbanValidation>('IbanValidation').implement({
  cost: lookUpWeight,
  extensions: { cacheScope: 'private' },
  description: 'What is known about an IBAN. One that is not valid is an answer like any other, never an error.',
  fields: (t) => ({
    iban: t.exposeID('iban', {
      tag: personalData,
      description: 'The IBAN that was checked, without spaces and hyphens, in upper case.',
    }),
    valid: t.exposeBoolean('valid', { description: 'Whether it is a valid IBAN. Not whether the account exists.' }),
    problems: t.expose('problems', {
      type: [IbanProblemType],
      description: 'Why it is not valid; empty when it is.',
    }),
    ibanData: t.expose('ibanData', {
      type: IbanDataType,
      nullable: true,
      description: 'The IBAN taken apart; null where it cannot be.',
    }),
    bankData: t.expose('bankData', {
      type: BankDataType,
      nullable: true,
      description: 'The bank that keeps the account; null where the service tells nothing of it.',
    }),
    countryIbanExample: t.exposeString('countryIbanExample', {
      nullable: true,
      description: 'How a valid IBAN of the same country looks; null where the country is not known.',
    }),
    country: t.field({
      type: IbanCountryType,
      nullable: true,
      description: 'How its country writes IBANs; null where the country has none. Costs no upstream call.',
      resolve: ({ iban }) => findCountryFormat(iban.slice(0, 2)),
    }),
    nationalCheck: t.field({
      type: NationalCheckType,
      description:
        'Whether the national check digits inside it fit. They never make an IBAN invalid: banks have exemptions.',
      resolve: ({ iban }) => nationalCheck(iban),
    }),
    suggestions: t.stringList({
      tag: personalData,
      description:
        'Up to five valid IBANs that are one slip of the keyboard away, the likeliest first; empty when it is valid. ' +
        'Costs no upstream call.',
      resolve: ({ iban, valid }, _, { isKnownBank }) => (valid ? [] : [...suggestIbans(iban, { isKnownBank })]),
    }),
  }),
});

builder.asEntity(IbanValidationType, {
  key: builder.selection<{ iban: string }>('iban'),
  resolveReference: ({ iban }, { loaders }) => loaders.ibanValidation.load(compactIban(readKey('iban', iban))),
});

builder.queryField('ibanValidation', (t) =>
  t.field({
    type: IbanValidationType,
    nullable: true,
    tag: [paid, personalData],
    description: 'Validates an IBAN and describes its country and bank. Null, with an error, when the service fails.',
    args: {
      iban: t.arg.string({ required: true, description: 'The IBAN, with or without spaces and hyphens, in any case.' }),
    },
    resolve: (_, { iban }, { loaders }) => loaders.ibanValidation.load(compactIban(iban)),
  }),
);

builder.queryField('ibanValidations', (t) =>
  t.field({
    type: [IbanValidationType],
    nullable: { list: false, items: true },
    tag: [paid, personalData],
    listSize: { assumedSize: assumedIbans },
    description:
      'Validates many IBANs at once, in the order asked. Each IBAN is looked up once, however often it is repeated; ' +
      'one whose look-up fails is null, with an error that names its place.',
    args: { ibans: t.arg.stringList({ required: true, description: 'The IBANs, written in any way.' }) },
    resolve: (_, { ibans }, { loaders, budget }) => {
      if (ibans.length > budget.limits.ibans) throw budget.exceeded('ibans');
      return ibans.map((iban) => loaders.ibanValidation.load(compactIban(iban)));
    },
  }),
);
