import type { Bank, BankData } from '../../bank-data/bank-data.ts';
import { compactBic } from '../../iban/bic.ts';
import { builder } from './builder.ts';
import { readKey } from './entities.ts';
import { paid } from './tags.ts';
import { lookUpWeight } from './weights.ts';

export const BankDataType = builder.objectRef<BankData>('BankData').implement({
  description: 'The bank that keeps an account, as its national directory lists it.',
  fields: (t) => ({
    bankCode: t.exposeString('bankCode', {
      nullable: true,
      description: 'The national bank code; null where unknown.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the bank; null where unknown.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'Postal code of the bank; null where unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'City of the bank; null where unknown.' }),
    bic: t.exposeString('bic', { nullable: true, description: 'ISO 9362 BIC; null where the directory lists none.' }),
  }),
});

export const BankType = builder.objectRef<Bank>('Bank').implement({
  extensions: { cacheScope: 'public' },
  description: 'A bank as a list of banks has it.',
  fields: (t) => ({
    bic: t.exposeString('bic', { nullable: true, description: 'ISO 9362 BIC; null where the list has none.' }),
    bankCode: t.exposeString('bankCode', {
      nullable: true,
      description: 'The national bank code, or the routing number of a bank in the US; null where unknown.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the bank; null where unknown.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street and number; null where unknown.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'Postal code; null where unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'City; null where unknown.' }),
    countryCode: t.exposeString('countryCode', {
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null where unknown.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Who published the record; null where the service does not tell.',
    }),
    date: t.exposeString('date', {
      nullable: true,
      description: 'Date of the record, such as 2026-03-01; null where the service does not tell.',
    }),
  }),
});

builder.asEntity(BankType, {
  key: builder.selection<{ bic: string }>('bic'),
  resolveReference: async ({ bic }, { loaders }) =>
    (await loaders.bicValidation.load(compactBic(readKey('bic', bic)))).bank,
});

builder.queryField('bank', (t) =>
  t.field({
    type: BankType,
    nullable: true,
    tag: paid,
    cost: lookUpWeight,
    description:
      'The bank of a BIC, its head office where the BIC has 8 characters; null where the service knows none.',
    args: { bic: t.arg.string({ required: true, description: 'The BIC, 8 or 11 characters, in any case.' }) },
    resolve: async (_, { bic }, { loaders }) => (await loaders.bicValidation.load(compactBic(bic))).bank,
  }),
);
