import { severities } from '../finding.ts';
import { profiles, schemes } from '../pain/profiles.ts';
import { bodyTypes, csv, ndjson } from './request.ts';

/** `POST /check` in OpenAPI. */
const text = (description: string) => ({ type: 'string', description });
const oneOf = (values: readonly string[], description: string) => ({ type: 'string', enum: values, description });
const orNull = (schema: { type: string }) => ({ ...schema, type: [schema.type, 'null'] });
const object = (properties: object) => ({ type: 'object', properties });
const list = (items: object) => ({ type: 'array', items });
const string = { type: 'string' };
const integer = { type: 'integer' };

const place = {
  oneOf: [object({ row: integer, column: orNull(string) }), object({ line: integer, xpath: string })],
};

const found = {
  code: text('Stable.'),
  severity: oneOf(severities, 'How serious it is.'),
  message: text('For people; has no IBAN.'),
  suggestion: orNull(text('What would be right.')),
};

const row = {
  type: 'object',
  description: 'A row of a table. Blank rows and titles have none.',
  properties: {
    file: text('Always the same.'),
    row: { ...integer, description: 'From 1.' },
    name: orNull(text('The name of the payee.')),
    status: oneOf(['VALID', 'INVALID', 'EMPTY', 'NOT_CHECKED', 'FAILED'], 'The result for the IBAN.'),
    problems: { ...list(string), description: 'The codes of all findings.' },
    suggestion: orNull(text('IBANs that differ by one typing error, separated by spaces.')),
    bank: orNull(text('The bank of the IBAN.')),
    bic: orNull(text('The BIC of that bank.')),
    bic_match: orNull(text('SAME_BANK, OTHER_BANK or UNKNOWN.')),
    national_check: orNull(text('PASSED, FAILED or NOT_APPLICABLE.')),
    iban: orNull(text('Without spaces; null if it is not well-formed.')),
    findings: list(object({ ...found, place })),
    others: {
      ...list({ type: 'object' }),
      description:
        'The results for further columns with IBANs: column, status, problems and the other fields of a result.',
    },
    cells: { ...list({ type: ['string', 'number'] }), description: 'As in the file.' },
  },
  required: ['row', 'status', 'problems', 'findings', 'cells'],
};

const finding = {
  type: 'object',
  description: 'A finding of a payment message.',
  properties: {
    file: text('Always the same.'),
    ...found,
    line: integer,
    xpath: text('The element.'),
    batch: orNull(text('The identification of the batch (PmtInfId); null: it is about the whole message.')),
    payee: orNull(text('The name of the payee, or of the payer of a direct debit; null: it is about a whole batch.')),
    amount: orNull(text('Such as EUR 12.50.')),
    end_to_end_id: orNull(text('The end-to-end identification.')),
  },
  required: ['code', 'severity', 'line', 'xpath', 'message'],
};

const summary = {
  type: 'object',
  description: 'The last line about a payment message.',
  properties: {
    summary: object({
      text: text('For people, in the words of the command.'),
      message: orNull(text('Such as pain.001.001.09; null if it is not a message that is checked.')),
      payments: { ...integer, description: 'Batches (PmtInf).' },
      transactions: integer,
      ibans: { ...integer, description: 'Different well-formed ones.' },
      rules: list(object({ scheme: oneOf(schemes, 'By whose rules, beside ISO 20022.'), transactions: integer })),
      sums: list(object({ currency: string, sum: string })),
      // Transactions with findings of each severity; findings about batches and the whole message.
      found: object({ error: integer, warning: integer, hint: integer, others: integer }),
      isComplete: { type: 'boolean', description: 'Whether it was read to its end.' },
    }),
  },
  required: ['summary'],
};

const failure = {
  type: 'object',
  description: 'The last line, if the check could not be completed.',
  properties: { error: object({ code: string, message: string }) },
  required: ['error'],
};

const errors = list(object({ message: string, extensions: object({ code: string }) }));
const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: object({ errors }) } },
});

const parameter = (name: string, description: string, schema: object = string) => ({
  ...{ name, in: 'query', schema, description },
});
const columnParameter = (name: string, description: string) =>
  parameter(name, `${description}, by title, letter, or number from 1; found by content without it.`);

export const checkDocument = {
  openapi: '3.1.0',
  info: { title: 'Ledgerquill: check a file', version: '1', description: 'Checks payee lists and payment messages.' },
  paths: {
    '/check': {
      post: {
        summary: 'Checks a file while it is sent',
        description: 'Answers with the rows of a table in their order, or with the findings of a payment message.',
        security: [{ bearer: [] }, { key: [] }, {}],
        parameters: [
          columnParameter('column', 'The column of the IBANs'),
          columnParameter('bicColumn', 'The column of the BICs'),
          columnParameter('nameColumn', 'The column of the names'),
          parameter('encoding', 'The encoding of a table, such as windows-1250; found by content without it.'),
          parameter(
            'profile',
            'By whose rules a payment message is judged; auto: those that each payment says it follows.',
            { ...string, enum: profiles, default: 'auto' },
          ),
        ],
        requestBody: {
          required: true,
          description: 'Recognized by its content.',
          content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: string }])),
        },
        responses: {
          200: {
            description: 'The results, as they are known.',
            headers: {
              'outdated-bank-lists': {
                description:
                  'Bank lists that are out of date, by country, each with its date: ES=2024-11-11,IS=2021-11-16',
                schema: string,
              },
            },
            content: {
              [ndjson]: { schema: { anyOf: [row, finding, summary, failure] } },
              [csv]: {
                schema: text(
                  'The rows with added columns, or the findings. It ends early if the check could not be completed.',
                ),
              },
            },
          },
          400: refusal('The file cannot be checked, such as one without IBANs, or with more than 1,000 columns.'),
          401: refusal('The credentials are missing or wrong.'),
          403: refusal('The caller does not have the scope bank-data.'),
          405: refusal('The method is not POST.'),
          406: refusal('The Accept header allows neither NDJSON nor CSV.'),
          413: refusal('The file is larger than CHECK_MAX_BYTES.'),
          415: refusal('The type of the body is not one of those above, or it is an XLSX workbook: save it as CSV.'),
          429: refusal('The caller has sent its requests of this minute.'),
          503: refusal('The gateway checks as many files as CHECK_MAX_REQUESTS allows, and others wait.'),
        },
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    },
  },
};
