import fc from 'fast-check';
import { buildSchema, getIntrospectionQuery, Kind, type SelectionSetNode } from 'graphql';
import { expect, it } from 'vitest';
import { createOperationCost } from '../../../../src/gateway/graphql/documents/cost.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import { countryFormats } from '../../../../src/iban/registry.ts';
import { tOperation } from '../../../support/gateway/graphql/documents.ts';
import { tGateway, tScriptedGateway } from '../../../support/gateway.ts';
import { replyJson } from '../../../support/scripted-upstream.ts';

const defaultLimit = 100_000;

function costOf(query: string, variables: Record<string, unknown> = {}, of = schema): number {
  return tCost(query, of)(variables);
}

function tCost(query: string, of = schema) {
  const { definition, fragments } = tOperation(query);
  return createOperationCost({ schema: of, operation: definition, fragments });
}

const ibans = (length: number) => Array.from({ length }, () => 'DE89370400440532013000');

it('is computed for the variables of each request', () => {
  const query = `query ($l: [String!] = ["A", "B"], $n: Int) {
    ibanValidations(ibans: $l) { valid }
    banks(first: $n) { nodes { bic } }
  }`;
  const list = fc.constantFrom<unknown>(undefined, null, 'A', [], ibans(1), ibans(3), 3);
  const page = fc.constantFrom<unknown>(undefined, null, 'ten', [], 0, 1, 3, 1e9);
  fc.assert(
    fc.property(fc.array(fc.record({ l: list, n: page }), { maxLength: 5 }), (requests) => {
      const cost = tCost(query);
      const sent = requests.map((variables) => JSON.parse(JSON.stringify(variables)));
      expect(sent.map(cost)).toEqual(sent.map((variables) => costOf(query, variables)));
    }),
  );
});

it.each([
  ['{ country(code: "FR") { code name } }', {}, 1 + 1 + 2],
  ['{ a: __typename b: __typename }', {}, 2],
  ['{ ibanValidations(ibans: ["A", "B", "C"]) { valid iban } }', {}, 1 + 3 * (1 + 10 + 2)],
  ['{ ibanValidations(ibans: "A") { valid iban } }', {}, 1 + 1 + 10 + 2],
  ['query ($l: [String!]!) { ibanValidations(ibans: $l) { valid } }', { l: ibans(7) }, 1 + 7 * (1 + 10 + 1)],
  ['query ($l: [String!]!) { ibanValidations(ibans: $l) { valid } }', { l: 'A' }, 1 + 1 + 10 + 1],
  ['query ($l: [String!] = ["A", "B"]) { ibanValidations(ibans: $l) { valid } }', {}, 1 + 2 * (1 + 10 + 1)],
  ['query ($l: [String!]!) { ibanValidations(ibans: $l) { valid } }', {}, 1 + 1 + 10 + 1],
  ['query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }', { r: [{}, {}, null] }, 1 + 3 * (1 + 1)],
  ['{ banks { nodes { bic } } }', {}, 10 + 2 + 1 + 20 * 2],
  [
    '{ banks(first: 7) { nodes { bic } edges { node { bic } } totalCount } }',
    {},
    10 + 2 + (1 + 7 * 2) + (1 + 7 * 4) + 1,
  ],
  [
    'query ($n: Int!) { banks(first: $n) { ...P } } fragment P on BankDataConnection { nodes { bic } }',
    { n: 3 },
    10 + 2 + 1 + 3 * 2,
  ],
  ['query ($n: Int = 4) { banks(first: $n) { nodes { bic } } }', {}, 10 + 2 + 1 + 4 * 2],
  ['query ($n: Int!) { banks(first: $n) { nodes { bic } } }', { n: 1e9 }, 10 + 2 + 1 + 100 * 2],
  ['query ($n: Int!) { banks(first: $n) { nodes { bic } } }', { n: -1 }, 10 + 2 + 1 + 100 * 2],
  ['query ($n: Int!) { banks(first: $n) { nodes { bic } } }', { n: 'ten' }, 10 + 2 + 1 + 100 * 2],
  [
    '{ a: banks(first: 1) { ...P } b: banks(first: 2) { ...P } } fragment P on BankDataConnection { nodes { bic } }',
    {},
    10 + 2 + 1 + 2 + (10 + 2 + 1 + 2 * 2),
  ],
  ['{ country(code: "FR") { territories { code } } }', {}, 2 + 1 + 12 * 2],
])('%s costs its fields and objects times its lists, and its look-ups', (query, variables, cost) => {
  expect(costOf(query, variables)).toBe(cost);
});

it('counts the fields and objects of random documents as if each fragment was expanded where it is spread', () => {
  const random = buildSchema('type Query { a: Query b: [Query] c: Int d(l: [Int]): [Query] }');
  const fields = fc.constantFrom('a', 'b', 'c', 'd(l: [1, 2])', 'd(l: $l)', 'x: a', 'y: c', 'z: d(l: [])');
  const { selections } = fc.letrec<{ selections: string; selection: (level: number) => string }>((tie) => ({
    selections: fc
      .array(tie('selection'), { minLength: 1, maxLength: 4 })
      .map((all) => all.join(' ')) as fc.Arbitrary<string>,
    selection: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'selection' },
      fc.constantFrom('c', '...NEXT', '... { c }'),
      fc.tuple(fields, tie('selections')).map(([field, below]) => (/c$/.test(field) ? field : `${field} { ${below} }`)),
    ) as never,
  }));
  fc.assert(
    fc.property(fc.array(selections, { minLength: 1, maxLength: 5 }), fc.nat(5), (bodies, length) => {
      const last = bodies.length;
      const bodyOf = (body: string, index: number) => body.replaceAll('NEXT', `F${index + 1}`);
      const definitions = bodies.map((body, index) =>
        index === 0
          ? `query ($l: [Int]) { ${bodyOf(body, 0)} }`
          : `fragment F${index} on Query { ${bodyOf(body, index)} }`,
      );
      const query = `${definitions.join(' ')} fragment F${last} on Query { c }`;
      const variables = { l: Array.from({ length }, () => 1) };
      expect(costOf(query, variables, random)).toBe(expandedCost(query, length));
    }),
    { numRuns: 300, seed: 10 },
  );
});

/** Expands every spread. Fits the schema of the random documents only. */
function expandedCost(query: string, length: number): number {
  const { definition, fragments } = tOperation(query);
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, node) => {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(node.name.value);
        return sum + (fragment ? count(fragment.selectionSet) : 0);
      }
      if (node.kind === Kind.INLINE_FRAGMENT) return sum + count(node.selectionSet);
      const value = node.arguments?.[0]?.value;
      const listLength = value?.kind === Kind.LIST ? value.values.length : length;
      const items = { a: 1, b: 5, c: 1, d: listLength }[node.name.value] ?? 1;
      return sum + 1 + (node.selectionSet ? items * (1 + count(node.selectionSet)) : 0);
    }, 0);
  return count(definition.selectionSet);
}

const country =
  'code name isSepa ibanLength ibanFormatAsSwift ibanFormatAsRegex ibanExample ibanFields { name length characters isPadded }';
const iban = `iban valid problems nationalCheck suggestions countryIbanExample
  ibanData { country countryCode sepaCountry checksum bban bankCode accountNumber branch nationalChecksum countryIbanFormatAsSwift countryIbanFormatAsRegex }
  bankData { bankCode bic city name zip } country { ${country} parent { code } territories { code } }`;
const bank = 'address bankCode bic city countryCode date name source zip';
const list = 'query ($l: [String!]!) { ibanValidations(ibans: $l)';
const entities = 'query ($l: [_Any!]!) { _entities(representations: $l)';
const representations = ibans(1_000).map((key) => ({ __typename: 'IbanValidation', iban: key }));
const connection = `totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  nodes { ${bank} } edges { cursor node { ${bank} } }`;
const everyOption = {
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};
/** The last number is the largest share of the default limit. A query of everything about 1,000 IBANs leaves little of it. */
const ordinary: [string, string, Record<string, unknown>, number][] = [
  ['1,000 IBANs', `${list} { ${iban} } }`, { l: ibans(1_000) }, 0.96],
  ['1,000 entities', `${entities} { __typename ... on IbanValidation { ${iban} } } }`, { l: representations }, 0.96],
  ['a page of banks', `{ banks(first: 100) { ${connection} } }`, {}, 0.8],
  ['all countries', `{ countries { ${country} parent { ${country} } territories { ${country} } } }`, {}, 0.8],
  ['introspection with all options', getIntrospectionQuery(everyOption), {}, 0.8],
];

it.each(ordinary)(
  '%s cost less than the default limit, and at least the fields and objects of the response',
  async (_, query, variables, maxShare) => {
    const { ask } = await tScriptedGateway(replyJson(200, { valid: true, data: [] }));
    const cost = costOf(query, variables);
    expect(cost).toBeLessThan(maxShare * defaultLimit);
    const { data, errors } = await ask(query, variables);
    expect(errors).toBeUndefined();
    const root = 1;
    expect(countUnits(data) - root).toBeLessThanOrEqual(cost);
  },
);

/** Fields and objects, with the root. */
function countUnits(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countUnits(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  return values.reduce((sum: number, item) => sum + countUnits(item), 1 + values.length);
}

it('assumes lists that are at least as long as they are', async () => {
  const { data } = await tGateway().ask(
    '{ countries { ibanFields { name } territories { ibanFields { name } } } allowances { used } }',
  );
  const lengths = (field: string) =>
    Object.values(data?.countries ?? {}).map((item) => Object.keys(item[field] ?? {}).length);
  expect(Math.max(...lengths('ibanFields'))).toBe(3);
  expect(Math.max(...lengths('territories'))).toBe(12);
  expect(Object.keys(data?.allowances ?? {}).length).toBeLessThanOrEqual(5);
  expect(Object.keys(data?.countries ?? {})).toHaveLength(countryFormats().length);
});
