import { type ExecutionResult, execute } from 'graphql';
import { compileQuery } from 'graphql-jit';
import { describe, expect, it } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import type { TimeSlices } from '../../../src/base/async/time-slices.ts';
import { parseDetached } from '../../../src/gateway/graphql/documents/document-errors.ts';
import { resolveInSlices } from '../../../src/gateway/graphql/documents/operation.ts';
import { compileOperation } from '../../../src/gateway/graphql/jit/compiler.ts';
import { createContext } from '../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { interpret, repeat, tDocuments, tOperation, toOutcome } from '../../support/gateway/graphql/documents.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';
import { tGateway } from '../../support/gateway.ts';

/* Large operations are completed in time slices: with the same result, and with turns of the event loop in between. */

/** Slices of so many objects. Each wait is a turn of the event loop. */
function tSlices(objects: number) {
  let inThisSlice = 0;
  let waits = 0;
  let last: Promise<unknown> = Promise.resolve();
  const slices: TimeSlices = Object.assign(
    <Result>(run: () => Result | Promise<Result>): Promise<Result> => {
      last = last.then(async () => {
        if (inThisSlice < objects) return;
        await new Promise((resolve) => setImmediate(resolve));
        inThisSlice = 0;
        waits += 1;
      });
      return last.then(() => {
        inThisSlice += 1;
        return run();
      });
    },
    {
      isOver() {
        inThisSlice += 1;
        return inThisSlice > objects;
      },
    },
  );
  return { slices, waits: () => waits };
}

function tSlicedContext(objects: number) {
  const { slices, waits } = tSlices(objects);
  const services = { ...tServices(), slices };
  return { context: createContext(services, tCaller, new AbortableSignal(), null, true), waits };
}

const ibans = ['DE89370400440532013000', 'DE89370400440532013001', 'XX', 'FR1420041010050500013M02606', 'x'.repeat(70)];
const fields = `iban valid problems suggestions nationalCheck bankData { name bic } ibanData { bban countryCode }
  format { masked } country { name territories { code parent { code } } ibanFields { name length } }`;
const queries: [string, string, Record<string, unknown>?][] = [
  ['a list with errors', `query ($l: [String!]!) { ibanValidations(ibans: $l) { ${fields} } }`, { l: ibans }],
  [
    'a list that is too long',
    'query ($l: [String!]!) { ibanValidations(ibans: $l) { iban } }',
    { l: Array(30).fill('XX') },
  ],
  [
    'entities',
    `query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on IbanValidation { ${fields} } ... on IbanCountry { name } } }`,
    {
      r: [
        { __typename: 'IbanValidation', iban: ibans[0] },
        { __typename: 'X' },
        1,
        { __typename: 'IbanCountry', code: 'DE' },
      ],
    },
  ],
  ['pages', '{ banks(first: 2) { nodes { name } edges { cursor node { bic } } pageInfo { hasNextPage } } }'],
  [
    'unions',
    '{ essayOrder(id: "known") { state { __typename ... on EssayFinished { essay { text input { titles } } } } } }',
  ],
  [
    'orders',
    '{ essayOrders(first: 3) { edges { node { id input { description titles } state { __typename } } } } allowances { used } }',
  ],
  [
    'failures',
    '{ a: essayOrder(id: "failing") { id } b: bank(bic: "x") { name } c: country(code: "nowhere") { name } }',
  ],
  ['lists of lists', '{ countries { name territories { code parent { code } } ibanFields { characters } } }'],
];

type Execute = (query: string, variables: Record<string, unknown>, objects: number) => Promise<Executed>;
interface Executed {
  result: ExecutionResult;
  waits: number;
}

const executors: Record<string, Execute> = {
  async 'GraphQL.js'(query, variableValues, objects) {
    const { context, waits } = tSlicedContext(objects);
    const document = parseDetached(query);
    const args = { schema, document, variableValues, contextValue: context, fieldResolver: resolveInSlices };
    return { result: await execute(args), waits: waits() };
  },
  async 'a compiled operation'(query, variables, objects) {
    const { context, waits } = tSlicedContext(objects);
    const result = await compileOperation(schema, tOperation(query), compileQuery)?.run(context, variables);
    if (!result) throw new Error('the operation was not compiled');
    return { result, waits: waits() };
  },
  async 'a prepared operation'(query, variables, objects) {
    const { context, waits } = tSlicedContext(objects);
    const result = await tDocuments().prepare(query).operation(null).execute(context, variables);
    return { result, waits: waits() };
  },
};

describe.each(Object.entries(executors))('in time slices, %s', (_, executeInSlices) => {
  it.each(queries)('has the result of GraphQL.js without them: %s', async (name, query, variables = {}) => {
    const expected = await interpret({ query, variables } as Parameters<typeof interpret>[0]);
    for (const objects of [0, 3]) {
      const { result, waits } = await executeInSlices(query, variables, objects);
      expect(toOutcome(result)).toEqual(expected);
      if (objects === 0 && !name.includes('fail') && !name.includes('too long')) expect(waits).toBeGreaterThan(0);
    }
  });

  it.each([
    ['items of a list', `{ countries { ${repeat(50, (i) => `n${i}: name`)} } }`, 89],
    ['items of inner lists', '{ countries { ibanFields { name } } }', 89 * 2],
    ['objects with a resolver', `{ ${repeat(60, (i) => `c${i}: country(code: "FR") { parent { code } name }`)} }`, 60],
  ])('lets others run after each few %s', async (_, query, objects) => {
    const { waits } = await executeInSlices(query, {}, 10);
    expect(waits).toBeGreaterThan(objects / 10 / 2);
    expect((await executeInSlices(query, {}, 1_000_000)).waits).toBe(0);
  });
});

it('lets others run after each few objects of one item without resolvers, which are not compiled if they are many', async () => {
  const query = `query ($l: [String!]!) { ibanValidations(ibans: $l) { ${repeat(300, (i) => `d${i}: ibanData { ...F }`)} } }
    fragment F on IbanData { ${repeat(10, (i) => `b${i}: bban`)} }`;
  const { waits } = (await executors['GraphQL.js']?.(query, { l: ibans.slice(0, 1) }, 10)) ?? { waits: 0 };
  expect(waits).toBeGreaterThan(20);
  expect(compileOperation(schema, tOperation(query), compileQuery)).toBeNull();
});

it('lets others run between look-ups and between errors of a large list', async () => {
  const { context, waits } = tSlicedContext(2);
  const query = `query ($l: [String!]!) { ibanValidations(ibans: $l) { ${repeat(300, (i) => `v${i}: valid`)} } }`;
  const services = {
    ...context.services,
    bankData: {
      ...context.services.bankData,
      validateIbans: async (ibans: readonly string[]) => ibans.map(() => new Error('failed')),
    },
  };
  const failing = createContext(services, tCaller, new AbortableSignal(), null, true);
  const l = Array.from({ length: 20 }, (_, index) => `DE8937040044053201${3_000 + index}`);
  const run = compileOperation(schema, tOperation(query), compileQuery)?.run;
  const result = await run?.(failing, { l });
  // A thousand at a time.
  expect(result?.errors).toHaveLength(6_000);
  expect(waits()).toBeGreaterThan(10);
});

it('is used for expensive operations only, also for each event of a subscription', async () => {
  const { ask } = tGateway();
  const large = `{ ${repeat(20, (c) => `c${c}: countries { code name }`)} }`;
  const small = '{ countries { code name } }';
  const { data } = await ask(large);
  expect(data?.c19).toEqual((await ask(small)).data?.countries);

  const operation = tDocuments()
    .prepare('subscription { essayOrder(id: "known") { id input { titles } } }')
    .operation(null);
  const { context, waits } = tSlicedContext(0);
  const results = await operation.subscribe(() => context, {});
  if (!(Symbol.asyncIterator in results)) throw new Error('it was not subscribed');
  for await (const { data } of results) expect(data).toMatchObject({ essayOrder: { id: 'known' } });
  // The order and its input.
  expect(waits()).toBe(2);
});
