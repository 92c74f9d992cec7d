import { z } from 'zod';
import { type Answer, type Query, rejectionSchema } from './answers/answer.ts';
import { answerAll, answerBanksByCountry, listedBankDetailsSchema, listedBankSchema } from './answers/bank-lists.ts';
import { answerIbanGeneration } from './answers/iban-generation.ts';
import {
  answerIbanFields,
  answerIbanStructure,
  ibanFieldsSchema,
  ibanStructureSchema,
} from './answers/iban-structure.ts';
import { answerIbanValidation, ibanValidationSchema } from './answers/iban-validation.ts';
import { pageSchema } from './answers/pagination.ts';
import { answerSwiftCheck, swiftCheckSchema } from './answers/swift-check.ts';
import type { BankDirectory } from './directory/bank-directory.ts';

export interface Route {
  path: string;
  summary: string;
  /** Parameters by name, as JSON Schema has them. */
  parameters: Readonly<Record<string, { description: string; isRequired?: boolean; type?: 'integer' }>>;
  body: z.ZodType;
  answer: (query: Query, directory: BankDirectory, path: string) => Answer<unknown>;
}

const page = { page: { description: 'Number of the page, from 1.', type: 'integer' } } as const;
const country = { country: { description: 'Code such as DE, or English name.', isRequired: true } } as const;

/** The endpoints of the service, in the order in which its capabilities are named. */
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
    summary: 'Validates a SWIFT code (BIC) and tells whose it is',
    parameters: { swift_code: { description: '8 or 11 characters.', isRequired: true } },
    body: swiftCheckSchema,
    answer: answerSwiftCheck,
  },
  {
    path: '/bank_data/iban_structure',
    summary: 'How a country builds its IBANs, with an example',
    parameters: country,
    body: ibanStructureSchema,
    answer: answerIbanStructure,
  },
  {
    path: '/bank_data/iban_fields',
    summary: 'What an IBAN of a country is generated from',
    parameters: country,
    body: ibanFieldsSchema,
    answer: answerIbanFields,
  },
  {
    path: '/bank_data/iban_generate',
    summary: 'Generates an IBAN and answers as iban_validate does',
    parameters: {
      ...country,
      bank_code: { description: 'The national bank code.', isRequired: true },
      branch: { description: 'The branch, where the country has one.' },
      account_number: {
        description: 'The account number, without check digits that can be computed.',
        isRequired: true,
      },
    },
    body: ibanValidationSchema,
    answer: answerIbanGeneration,
  },
  {
    path: '/bank_data/banks_by_country',
    summary: 'Names of the banks of a country, ten a page',
    parameters: { country_code: { description: 'Code such as DE.', isRequired: true }, ...page },
    body: pageSchema(listedBankSchema),
    answer: (query, directory, path) => answerBanksByCountry(path, query, directory),
  },
  {
    path: '/bank_data/all',
    summary: 'Banks with their SWIFT codes',
    parameters: {
      country: { description: 'Code such as DE, or English name; absent: every country.' },
      search: { description: 'Part of a name, a bank code or a BIC. The hosted service does not have it.' },
      ...page,
      per_page: { description: 'Banks a page, from 1 to 100.', type: 'integer' },
    },
    body: pageSchema(listedBankDetailsSchema),
    answer: (query, directory, path) => answerAll(path, query, directory),
  },
];

/** The schema of a route as Fastify and OpenAPI take it. */
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
      200: describe('The answer.', body),
      401: describe('The header apikey is missing or wrong.', message),
      422: describe('A parameter is missing or wrong.', rejectionSchema),
    },
  };
}

function describe(description: string, schema: z.ZodType) {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema);
  return { description, content: { 'application/json': { schema: jsonSchema } } };
}
