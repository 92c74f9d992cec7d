import type { BankData } from '../../bank-data/bank-data.ts';
import { builder } from './builder.ts';

export const BankDataType = builder.objectRef<BankData>('BankData').implement({
  description: 'A bank as its national directory lists it.',
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
