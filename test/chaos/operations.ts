import { expect } from 'vitest';
import type { ServiceName } from '../../src/errors.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import type { UpstreamCall } from '../scripted-upstream.ts';
import { essayTable, ibanTable, listTable, type Table, type ToldOfEssay, type ToldOfIban } from './expectations.ts';

/** A question that the upstream misbehaves at, and how what its table tells looks in GraphQL. */
export interface Operation<Told = ToldOfIban | ToldOfEssay> {
  name: string;
  query: string;
  variables: Record<string, unknown>;
  /** How many things it asks the service for. */
  asks: number;
  /** Whether the service misbehaves at this call. */
  isStruck(call: UpstreamCall): boolean;
  table: Table<Told>;
  /** @param isReachable whether the healthy calls can succeed */
  answer(told: Told, isReachable: boolean): unknown;
  /** IBANs that it sends: none of them may be seen anywhere. */
  ibans: string[];
  /** What the same service is asked next; told and answered likewise. */
  next: Pick<Operation<Told>, 'query' | 'variables' | 'answer'>;
}

const struckIban = 'DE89370400440532013000';
const threeIbans = ['FR1420041010050500013M02606', struckIban, 'NL91ABNA0417164300'];
const nextIban = 'AT611904300234573201';

const validation = 'valid problems';
const singleQuery = `query ($iban: String!) { ibanValidation(iban: $iban) { ${validation} } }`;

const read = {
  asks: 1,
  isStruck: ({ query }) => query.get('iban_number') === struckIban,
  ibans: [struckIban],
  next: { query: singleQuery, variables: { iban: nextIban }, answer: answerSingle },
} satisfies Partial<Operation<ToldOfIban>>;

export const single: Operation<ToldOfIban> = {
  ...read,
  name: 'single IBAN',
  query: singleQuery,
  variables: { iban: struckIban },
  table: ibanTable,
  answer: answerSingle,
};

const list: Operation<ToldOfIban> = {
  ...read,
  name: 'list of IBANs',
  query: `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { ${validation} } }`,
  variables: { ibans: threeIbans },
  ibans: threeIbans,
  asks: 3,
  table: listTable,
  answer: (told, isReachable) => {
    const healthy = isReachable ? ibanTable['200'][0] : told;
    const all = [healthy, told, healthy];
    return {
      data: { ibanValidations: all.map(fieldsOf) },
      ...errorsOf(...all.map((each, index): [ToldOfIban, (string | number)[]] => [each, ['ibanValidations', index]])),
    };
  },
};

const entity: Operation<ToldOfIban> = {
  ...read,
  name: 'entity',
  query: `query ($representations: [_Any!]!) {
    _entities(representations: $representations) { ... on IbanValidation { ${validation} } }
  }`,
  variables: { representations: [{ __typename: 'IbanValidation', iban: struckIban }] },
  table: ibanTable,
  answer: (told) => ({ data: { _entities: [fieldsOf(told)] }, ...errorsOf([told, ['_entities', 0]]) }),
};

const essayQuery = `mutation ($description: String!) {
  generateEssay(input: { description: $description, wordCount: 100 }) {
    __typename
    ... on Essay { text }
    ... on Error { message }
    ... on InvalidEssayInput { field }
    ... on EssayAllowanceExhausted { renewsAt }
    ... on EssayServiceFailed { code retryable rawText }
  }
}`;

const essay: Operation<ToldOfEssay> = {
  name: 'essay',
  query: essayQuery,
  variables: { description: 'Fountain pens' },
  asks: 1,
  isStruck: () => true,
  table: essayTable,
  answer: answerEssay,
  ibans: [],
  next: { query: essayQuery, variables: { description: 'Ink' }, answer: answerEssay },
};

/** The schema has entities from the moment it is a subgraph. */
const isSubgraph = schema.getQueryType()?.getFields()._entities !== undefined;

export const operations = [single, list, ...(isSubgraph ? [entity] : []), essay] as Operation[];

function answerSingle(told: ToldOfIban): unknown {
  return { data: { ibanValidation: fieldsOf(told) }, ...errorsOf([told, ['ibanValidation']]) };
}

function answerEssay(told: ToldOfEssay): unknown {
  const message = told.__typename === 'EssayServiceFailed' ? { message: inOurWords('essays') } : {};
  return { data: { generateEssay: { ...told, ...message } } };
}

const inOurWords = (service: ServiceName) =>
  expect.stringMatching(new RegExp(`^The (allowance of the )?${service} service [a-z', ]+\\.$`));

function fieldsOf(told: ToldOfIban): unknown {
  return 'code' in told ? null : told;
}

/** Of a failure everything is told that a client can use, and nothing else. */
function errorsOf(...all: [told: ToldOfIban, path: (string | number)[]][]) {
  const errors = all.flatMap(([told, path]) => {
    if (!('code' in told)) return [];
    const { message = inOurWords('bank-data'), ...codes } = told;
    const extensions = { ...codes, service: 'bank-data', requestId: expect.stringMatching(/^[\w-]{36}$/) };
    const locations = [{ line: expect.any(Number), column: expect.any(Number) }];
    return [{ message, path, locations, extensions }];
  });
  return errors.length > 0 ? { errors } : {};
}
