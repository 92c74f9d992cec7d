import { expect } from 'vitest';
import type { ServiceName } from '../../../src/base/errors.ts';
import type { UpstreamCall } from '../scripted-upstream.ts';
import { type EssayResult, essayTable, type IbanResult, ibanTable, listTable, type Table } from './expectations.ts';

/** A GraphQL request whose upstream calls fail, and the GraphQL form of its expected results. */
export interface Operation<Result = IbanResult | EssayResult> {
  name: string;
  service: ServiceName;
  query: string;
  variables: Record<string, unknown>;
  /** Upstream calls if none is retried. */
  firstCalls: number;
  /** Whether the condition applies to this call. */
  isAffected(call: UpstreamCall): boolean;
  table: Table<Result>;
  /** @param isReachable whether the calls that are not affected succeed */
  answer(result: Result, isReachable: boolean): unknown;
  /** The IBANs of its calls: they must be neither shown nor logged. */
  ibans: string[];
  /** A later request to the same service. */
  next: Pick<Operation<Result>, 'query' | 'variables' | 'answer'>;
}

const affectedIban = 'DE89370400440532013000';
const threeIbans = ['FR1420041010050500013M02606', affectedIban, 'NL91ABNA0417164300'];
const nextIban = 'AT611904300234573201';

const validation = 'valid problems';
const ibanQuery = `query ($iban: String!) { ibanValidation(iban: $iban) { ${validation} } }`;
const listQuery = `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { ${validation} } }`;
const entityQuery = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  ... on IbanValidation { ${validation} } } }`;

const bankData = {
  service: 'bank-data',
  firstCalls: 1,
  isAffected: ({ query }) => query.get('iban_number') === affectedIban,
  ibans: [affectedIban],
  next: { query: ibanQuery, variables: { iban: nextIban }, answer: answerIban },
} satisfies Partial<Operation<IbanResult>>;

export const iban: Operation<IbanResult> = {
  ...bankData,
  name: 'one IBAN',
  query: ibanQuery,
  variables: { iban: affectedIban },
  table: ibanTable,
  answer: answerIban,
};

const list: Operation<IbanResult> = {
  ...bankData,
  name: 'a list of IBANs',
  query: listQuery,
  variables: { ibans: threeIbans },
  ibans: threeIbans,
  firstCalls: 3,
  table: listTable,
  answer: (result, isReachable) => {
    const other = isReachable ? ibanTable['200'][0] : result;
    return answerWith(listQuery, 'ibanValidations', [other, result, other]);
  },
};

const entity: Operation<IbanResult> = {
  ...bankData,
  name: 'an entity',
  query: entityQuery,
  variables: { representations: [{ __typename: 'IbanValidation', iban: affectedIban }] },
  table: ibanTable,
  answer: (result) => answerWith(entityQuery, '_entities', [result]),
};

const essayQuery = `mutation ($description: String!) {
  generateEssay(input: { description: $description, wordCount: 100 }) {
    __typename
    ... on Essay { text }
    ... on UserError { message }
    ... on InvalidEssayInput { fields { name } }
    ... on EssayAllowanceExhausted { renewsAt }
    ... on EssayServiceFailed { code retryable rawText }
  }
}`;

const essay: Operation<EssayResult> = {
  name: 'an essay',
  service: 'essays',
  query: essayQuery,
  variables: { description: 'Fountain pens' },
  firstCalls: 1,
  isAffected: () => true,
  table: essayTable,
  answer: answerEssay,
  ibans: [],
  next: { query: essayQuery, variables: { description: 'Ink' }, answer: answerEssay },
};

export const operations = [iban, list, entity, essay] as Operation[];

function answerIban(result: IbanResult): unknown {
  return answerWith(ibanQuery, 'ibanValidation', result);
}

/** The whole answer: its errors have no more properties than these. */
function answerWith(query: string, field: string, results: IbanResult | IbanResult[]): unknown {
  const locationsOf = (name: string) => {
    const lines = query.slice(0, query.lastIndexOf(name)).split('\n');
    return [{ line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }];
  };
  const errors = [results].flat().flatMap((result, index) => {
    if (!('code' in result)) return [];
    const { message = ownMessage('bank-data'), ...codes } = result;
    const extensions = { ...codes, service: 'bank-data', requestId: expect.stringMatching(/^[\w-]{36}$/) };
    const path = [field, ...(Array.isArray(results) ? [index] : [])];
    return ['valid', 'problems'].map((name) => {
      return { message, path: [...path, name], locations: locationsOf(name), extensions };
    });
  });
  const failed = { valid: null, problems: null };
  const fieldsOf = (result: IbanResult) => ('code' in result ? failed : result);
  const value = Array.isArray(results) ? results.map(fieldsOf) : fieldsOf(results);
  return { data: { [field]: value }, ...(errors.length > 0 && { errors }) };
}

function answerEssay(result: EssayResult): unknown {
  const message = result.__typename === 'EssayServiceFailed' ? { message: ownMessage('essay') } : {};
  return { data: { generateEssay: { ...result, ...message } } };
}

/** A sentence of the gateway, which cannot contain a key, an address or text of the upstream. */
const ownMessage = (service: 'bank-data' | 'essay') =>
  expect.stringMatching(new RegExp(`^The (allowance of the )?${service} service [a-z', ]+\\.$`));
