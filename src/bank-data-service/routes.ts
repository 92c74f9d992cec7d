import * as z from 'zod';
import { type Answer, type Query, rejectionSchema } from './answers/answer.ts';
import { answerAll, answerBanksByCountry, bankNameSchema, bankRecordSchema, pageSchema } from './answers/bank-lists.ts';
import {
  answerIbanFields,
  answerIbanGeneration,
  answerIbanStructure,
  answerIbanValidation,
  ibanFieldsSchema,
  ibanGenerationSchema,
  ibanStructureSchema,
  ibanValidationSchema,
} from './answers/ibans.ts';
import { answerSwiftCheck, swiftCheckSchema } from './answers/swift-codes.ts';
import type { BankDirectory } from './bank-directory.ts';

export interface Route {
  path: string;
  summary: string;
  /** By name. */
  parameters: Readonly<Record<string, { description: string; isRequired?: boolean; type?: 'integer' }>>;
  body: z.ZodType;
  /** `url` is the URL of the endpoint, for links. */
  answer: (query: Query, directory: BankDirectory, url: string) => Answer<unknown>;
}

const page = { page: { description: 'Page number, from 1.', type: 'integer' } } as const;
const country = {
  country: { description: 'ISO 3166-1 alpha-2 code such as DE, or English name.', isRequired: true },
} as const;

/** The endpoints of the service. */
export const routes: readonly Route[] = [
  {
    path: '/bank_data/iban_validate',
    summary: 'Validates an IBAN',
    parameters: { iban_number: { description: 'The IBAN, with or without spaces.', isRequired: true } },
    body: ibanValidationSchema,
    answer: answerIbanValidation,
  },
  {
    path: '/bank_data/swift_check',
    summary: 'Validates a SWIFT code (BIC) and returns its bank',
    parameters: { swift_code: { description: '8 or 11 characters.', isRequired: true } },
    body: swiftCheckSchema,
    answer: answerSwiftCheck,
  },
  {
    path: '/bank_data/iban_structure',
    summary: 'Returns the IBAN format of a country, with an example',
    parameters: country,
    body: ibanStructureSchema,
    answer: answerIbanStructure,
  },
  {
    path: '/bank_data/iban_fields',
    summary: 'Returns the fields that an IBAN of a country is generated from',
    parameters: country,
    body: ibanFieldsSchema,
    answer: answerIbanFields,
  },
  {
    path: '/bank_data/iban_generate',
    summary: 'Generates an IBAN and returns what iban_validate returns, and whether the rule of a German bank is known',
    parameters: {
      ...country,
      bank_code: { description: 'The national bank code.', isRequired: true },
      branch: { description: 'The branch, if the country has one.' },
      account_number: {
        description: 'The account number, without check digits that can be computed, or with them behind a hyphen.',
        isRequired: true,
      },
    },
    body: ibanGenerationSchema,
    answer: answerIbanGeneration,
  },
  {
    path: '/bank_data/banks_by_country',
    summary: 'Lists the names of the banks of a country, ten per page',
    parameters: { country_code: { description: 'ISO 3166-1 alpha-2 code such as DE.', isRequired: true }, ...page },
    body: pageSchema(bankNameSchema),
    answer: answerBanksByCountry,
  },
  {
    path: '/bank_data/all',
    summary: 'Lists banks with their SWIFT codes',
    parameters: {
      country: { description: 'ISO 3166-1 alpha-2 code such as DE, or English name; absent for all countries.' },
      search: {
        description: 'Part of a name, or the start of a bank code or BIC. The hosted service does not have it.',
      },
      ...page,
      per_page: { description: 'Banks per page, from 1 to 100.', type: 'integer' },
    },
    body: pageSchema(bankRecordSchema),
    answer: answerAll,
  },
];

/** The schema of a route for Fastify and OpenAPI. */
export function toRouteSchema({ summary, parameters, body }: Route) {
  const message = z.object({ message: z.string() });
  return {
    summary,
    security: [{ apikey: [] }],
    querystring: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(parameters).map(([name, { description, type = 'string' }]) => [name, { type, description }]),
      ),
      required: Object.entries(parameters).flatMap(([name, { isRequired }]) => (isRequired ? [name] : [])),
    },
    response: {
      200: describe('The result.', body),
      401: describe('The header apikey is missing or wrong.', message),
      422: describe('A parameter is missing or wrong.', rejectionSchema),
    },
  };
}

function describe(description: string, schema: z.ZodType) {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema);
  return { description, content: { 'application/json': { schema: jsonSchema } } };
}
