import type { Bank, BankData } from '../../bank-data/bank-data.ts';
import type { BicSource } from '../../bank-lists/listed-bank.ts';
import { compactBic } from '../../iban/bic.ts';
import { builder } from './builder.ts';
import { lookUpCost, paid } from './directives.ts';
import { entityKey, readKey, resolveReference } from './entities.ts';
import { bankDataScope, limitText, maxLengths } from './field-checks.ts';

const BicSourceType = builder.enumType('BicSource', {
  description: 'Where a BIC is from.',
  values: {
    NATIONAL_LIST: { description: 'From the list of bank codes of the country.' },
    REGISTER: {
      description: 'From a register of institutions (ES, FR): the BIC on account statements may be another one.',
    },
    CORRECTED: { description: 'From the corrections of Ledgerquill, where the list is wrong or lacks the bank.' },
  } as const satisfies Record<BicSource, object>,
});

const bicSource = {
  type: BicSourceType,
  nullable: true,
  description: 'Where the BIC is from; null without a BIC, or if the service does not report it.',
} as const;

const source = {
  nullable: true,
  description: 'Publisher of the record; null if the service does not report it.',
} as const;

const date = {
  nullable: true,
  description:
    'Date of the published list in ISO 8601, such as 2026-03-01, or of its import, if the list has none; null if the ' +
    'service does not report it.',
} as const;

export const BankDataType = builder.objectRef<BankData>('BankData').implement({
  description: 'The bank of an account, from its national directory.',
  fields: (t) => ({
    bankCode: t.exposeString('bankCode', { nullable: true, description: 'National bank code; null if unknown.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the bank; null if unknown.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'Postal code of the bank; null if unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'City of the bank; null if unknown.' }),
    bic: t.exposeString('bic', { nullable: true, description: 'ISO 9362 BIC; null if the directory has none.' }),
    bicSource: t.expose('bicSource', bicSource),
    source: t.exposeString('source', source),
    date: t.exposeString('date', date),
  }),
});

export const BankType = builder.objectRef<Bank>('Bank').implement({
  directives: [entityKey('bic')],
  extensions: {
    cacheScope: 'public',
    ...bankDataScope,
    ...resolveReference(
      async ({ bic }, { loaders }) =>
        (await loaders.validateBic(compactBic(readKey('bic', bic, maxLengths.code)))).bank,
    ),
  },
  description: 'A record from a list of banks.',
  fields: (t) => ({
    bic: t.exposeString('bic', { nullable: true, description: 'ISO 9362 BIC; null if the list has none.' }),
    bankCode: t.exposeString('bankCode', {
      nullable: true,
      description: 'National bank code, or the routing number of a US bank; null if unknown.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the bank; null if unknown.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street and number; null if unknown.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'Postal code; null if unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'City; null if unknown.' }),
    countryCode: t.exposeString('countryCode', {
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null if unknown.',
    }),
    bicSource: t.expose('bicSource', bicSource),
    source: t.exposeString('source', source),
    date: t.exposeString('date', date),
  }),
});

builder.queryField('bank', (t) =>
  t.field({
    extensions: bankDataScope,
    type: BankType,
    nullable: true,
    directives: [lookUpCost, paid],
    description:
      'The bank with this BIC; a BIC of 8 characters identifies the head office. Null if the BIC is not valid or the ' +
      'service does not know the bank. Null, with an error, when the service fails.',
    args: {
      bic: t.arg.string({
        required: true,
        ...limitText(maxLengths.code, 'The BIC: 8 or 11 characters; case is ignored.'),
      }),
    },
    resolve: async (_, { bic }, { loaders }) => (await loaders.validateBic(compactBic(bic))).bank,
  }),
);
