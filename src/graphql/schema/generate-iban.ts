import type { IbanGeneration } from '../../bank-data/bank-data.ts';
import type { IbanFieldProblem } from '../../iban/build-iban.ts';
import { compactIban } from '../../iban/iban.ts';
import { builder } from './builder.ts';
import { ErrorType } from './error.ts';
import { IbanValidationType } from './iban.ts';
import { paid, personalData } from './tags.ts';
import { lookUpWeight } from './weights.ts';

const InvalidIbanFieldType = builder.objectRef<IbanFieldProblem>('InvalidIbanField').implement({
  description: 'What is wrong with one field.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The field of GenerateIbanInput.' }),
    message: t.exposeString('message', { description: 'What was given and what would be right.' }),
  }),
});

type InvalidFields = Extract<IbanGeneration, { kind: 'invalid' }>;

const InvalidIbanFieldsType = builder.objectRef<InvalidFields>('InvalidIbanFields').implement({
  description: 'No IBAN can be made of these fields.',
  interfaces: [ErrorType],
  fields: (t) => ({
    fields: t.expose('problems', {
      type: [InvalidIbanFieldType],
      description: 'Every field at fault; empty where only the service knows.',
    }),
  }),
});

const GenerateIbanResultType = builder.unionType('GenerateIbanResult', {
  extensions: { cacheScope: 'private' },
  description: 'The IBAN with all that is known about it, or what is wrong with the fields.',
  types: [IbanValidationType, InvalidIbanFieldsType],
  resolveType: (result) => ('iban' in result ? IbanValidationType : InvalidIbanFieldsType),
});

const GenerateIbanInputType = builder.inputType('GenerateIbanInput', {
  description: 'What an IBAN is generated from. IbanCountry.ibanFields tells which fields a country has.',
  fields: (t) => ({
    country: t.string({ required: true, description: 'ISO 3166-1 alpha-2 code.' }),
    bankCode: t.string({ description: 'The national bank code.' }),
    branch: t.string({ description: 'The branch, where the country has one.' }),
    accountNumber: t.string({
      tag: personalData,
      description: 'The account number, without check digits that can be computed.',
    }),
  }),
});

builder.queryField('generateIban', (t) =>
  t.field({
    type: GenerateIbanResultType,
    nullable: true,
    tag: [paid, personalData],
    cost: lookUpWeight,
    description:
      'Generates an IBAN from its fields; all check digits are computed. Fields that cannot be right are told without ' +
      'an upstream call. Null, with an error, when the service fails.',
    args: { input: t.arg({ type: GenerateIbanInputType, required: true, description: 'The fields.' }) },
    resolve: async (_, { input }, { bankData, budget, requestContext }) => {
      if (!budget.spend('bankQueries')) throw budget.exceeded('bankQueries');
      const values = {
        country: compactIban(input.country),
        bankCode: compactIban(input.bankCode ?? ''),
        branch: compactIban(input.branch ?? ''),
        accountNumber: compactIban(input.accountNumber ?? ''),
      };
      const generation = await bankData.generateIban(values, requestContext);
      return generation.kind === 'iban' ? generation.validation : generation;
    },
  }),
);
