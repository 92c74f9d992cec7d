import { createServer } from 'node:http';
import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import FederationPlugin from '@pothos/plugin-federation';
import DataLoader from 'dataloader';
import { createYoga } from 'graphql-yoga';
import { validateIban } from '../comparison/validate-iban.js';

/* GraphQL Yoga and Pothos with a DataLoader per request. */

const builder = new SchemaBuilder({ plugins: [DirectivesPlugin, FederationPlugin] });

const IbanData = builder.objectRef('IbanData').implement({
  fields: (t) => ({
    country: t.exposeString('country', { nullable: true }),
    countryCode: t.exposeString('countryCode'),
    bankCode: t.exposeString('bankCode', { nullable: true }),
    bban: t.exposeString('bban'),
  }),
});

const BankData = builder.objectRef('BankData').implement({
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true }),
    bic: t.exposeString('bic', { nullable: true }),
    city: t.exposeString('city', { nullable: true }),
  }),
});

const IbanValidation = builder.objectRef('IbanValidation').implement({
  fields: (t) => ({
    iban: t.exposeID('iban'),
    valid: t.exposeBoolean('valid'),
    ibanData: t.expose('ibanData', { type: IbanData, nullable: true }),
    bankData: t.expose('bankData', { type: BankData, nullable: true }),
  }),
});

builder.asEntity(IbanValidation, {
  key: builder.selection('iban'),
  resolveReference: ({ iban }, { validations }) => validations.load(iban),
});

builder.queryType({
  fields: (t) => ({
    ibanValidation: t.field({
      type: IbanValidation,
      nullable: true,
      args: { iban: t.arg.string({ required: true }) },
      resolve: (_, { iban }, { validations }) => validations.load(iban),
    }),
    ibanValidations: t.field({
      type: [IbanValidation],
      nullable: { list: false, items: true },
      args: { ibans: t.arg.stringList({ required: true }) },
      resolve: (_, { ibans }, { validations }) => validations.loadMany(ibans),
    }),
  }),
});

const yoga = createYoga({
  schema: builder.toSubGraphSchema({ linkUrl: 'https://specs.apollo.dev/federation/v2.6' }),
  context: () => ({ validations: new DataLoader((ibans) => Promise.all(ibans.map(validateIban))) }),
});

createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
