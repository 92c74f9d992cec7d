import type { BicValidation } from '../../bank-data/bank-data.ts';
import { compactBic, parseBic } from '../../iban/bic.ts';
import { BankType } from './bank.ts';
import { builder } from './builder.ts';
import { paid } from './tags.ts';
import { lookUpWeight } from './weights.ts';

const BicProblemType = builder.enumType('BicProblem', {
  description: 'Why a BIC is not valid.',
  values: {
    ILLEGAL_CHARACTERS: { description: 'It contains characters other than A to Z and digits.' },
    WRONG_LENGTH: { description: 'It has neither 8 nor 11 characters.' },
    UNKNOWN_COUNTRY: { description: 'Its fifth and sixth characters are no country code.' },
    REJECTED_BY_SERVICE: {
      description: 'Its characters are in order, yet the bank-data service says that it is not valid.',
    },
  } as const,
});

const BicValidationType = builder.objectRef<BicValidation>('BicValidation').implement({
  // It says again what was asked, and people type IBANs where a BIC belongs.
  extensions: { cacheScope: 'private' },
  description: 'What is known about a BIC. One that is not valid is an answer like any other, never an error.',
  fields: (t) => ({
    bic: t.exposeID('bic', { description: 'The BIC that was checked, without spaces, in upper case.' }),
    valid: t.exposeBoolean('valid', { description: 'Whether it is a valid BIC. Not whether it was ever issued.' }),
    problems: t.expose('problems', { type: [BicProblemType], description: 'Why it is not valid; empty when it is.' }),
    partyPrefix: t.string({
      nullable: true,
      description: 'The four characters of the institution; null where the BIC cannot be taken apart.',
      resolve: ({ bic }) => parseBic(bic)?.partyPrefix,
    }),
    countryCode: t.string({
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null where the BIC cannot be taken apart.',
      resolve: ({ bic }) => parseBic(bic)?.countryCode,
    }),
    location: t.string({
      nullable: true,
      description: 'The two characters of the location; null where the BIC cannot be taken apart.',
      resolve: ({ bic }) => parseBic(bic)?.location,
    }),
    branch: t.string({
      nullable: true,
      description:
        'The three characters of the branch, XXX for the head office; null where the BIC cannot be taken apart.',
      resolve: ({ bic }) => parseBic(bic)?.branch,
    }),
    isHeadOffice: t.boolean({
      description: 'Whether it names the head office: it has 8 characters, or ends in XXX.',
      resolve: ({ bic }) => parseBic(bic)?.isHeadOffice ?? false,
    }),
    isTest: t.boolean({
      description: 'Whether it is for testing only: no payment reaches it.',
      resolve: ({ bic }) => parseBic(bic)?.isTest ?? false,
    }),
    bank: t.expose('bank', {
      type: BankType,
      nullable: true,
      description: 'The bank; null where the service does not know it.',
    }),
  }),
});

builder.queryField('bicValidation', (t) =>
  t.field({
    type: BicValidationType,
    nullable: true,
    tag: paid,
    cost: lookUpWeight,
    description:
      'Validates a BIC (SWIFT code) by ISO 9362 and tells whose it is. Null, with an error, when the service fails.',
    args: { bic: t.arg.string({ required: true, description: 'The BIC, 8 or 11 characters, in any case.' }) },
    resolve: (_, { bic }, { loaders }) => loaders.bicValidation.load(compactBic(bic)),
  }),
);
