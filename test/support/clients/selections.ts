import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql';

const schema = buildSchema(readFileSync(new URL('../../../schema.client.graphql', import.meta.url), 'utf8'));

/** What changes with each call. */
const changing = ['Allowance.used', 'Allowance.remaining', 'Allowance.callerBudget'];

/** A field with its selection, and the name that it has in the response. */
interface Selected {
  field: string;
  name: string;
  text: string;
}

type Alias = fc.Arbitrary<string | null>;

/** Apollo Client loses fields of an object that a query selects twice, with its key only once: it says so, and asks again. */
const isSame = (one: Selected, other: Selected) => one.name === other.name || one.field === other.field;

/**
 * Queries that follow each other, of a few root fields, so that they often select the same objects.
 * @param roots the arguments of each field of Query that is queried, such as `(first: 1)`
 * @param aliases of any field, also the names of others
 */
export function arbitraryQueries(
  roots: Readonly<Record<string, readonly string[]>>,
  aliases: readonly string[],
): fc.Arbitrary<string[]> {
  const alias = fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, fc.constantFrom(...aliases));
  const fields = schema.getQueryType()?.getFields() ?? {};
  const arbitraries = Object.fromEntries(
    Object.entries(roots).map(([name, args]) => {
      const field = fields[name];
      if (field === undefined) throw new Error(`Query has no field ${name}`);
      return [name, select(field, args, 4, alias)] as const;
    }),
  );
  const few = fc.subarray(Object.keys(roots), { minLength: 1, maxLength: 2 });
  return few.chain((names) => {
    const query = selectionOf(
      names.flatMap((name) => arbitraries[name] ?? []),
      2,
    );
    return fc.array(query, { minLength: 2, maxLength: 6 });
  });
}

function selectionOf(fields: fc.Arbitrary<Selected>[], maxLength: number): fc.Arbitrary<string> {
  const selected = fc.uniqueArray(fc.oneof(...fields), { minLength: 1, maxLength, comparator: isSame });
  return selected.map((list) => `{ ${list.map(({ text }) => text).join(' ')} }`);
}

function select(
  { name, type }: GraphQLField<unknown, unknown>,
  args: readonly string[],
  depth: number,
  alias: Alias,
): fc.Arbitrary<Selected> {
  return fc
    .tuple(alias, fc.constantFrom(...args), selectFields(getNamedType(type), depth, alias))
    .map(([other, given, fields]) => ({
      field: name,
      name: other ?? name,
      text: `${other === null ? '' : `${other}: `}${name}${given} ${fields}`,
    }));
}

/** The selection of an object; of a union, of one of its members. */
function selectFields(type: GraphQLNamedType, depth: number, alias: Alias): fc.Arbitrary<string> {
  if (isAbstractType(type)) {
    const members = schema.getPossibleTypes(type);
    return fc
      .constantFrom(...members)
      .chain((member) =>
        selectFields(member, depth, alias).map((fields) => `{ __typename ... on ${member} ${fields} }`),
      );
  }
  return isObjectType(type) ? selectionOf(selectableFields(type, depth, alias), 3) : fc.constant('');
}

function selectableFields(type: GraphQLObjectType, depth: number, alias: Alias): fc.Arbitrary<Selected>[] {
  const fields = Object.values(type.getFields())
    .filter(({ name }) => !changing.includes(`${type}.${name}`))
    .filter((field) => depth > 1 || !hasFields(field))
    .map((field) => select(field, field.name === 'bicMatch' ? bics : [''], depth - 1, alias));
  return [...fields, fc.constant({ field: '__typename', name: '__typename', text: '__typename' })];
}

const bics = ['(bic: "COBADEFFXXX")', '(bic: "DEUTDEFF")'];

const hasFields = ({ type }: GraphQLField<unknown, unknown>) =>
  isObjectType(getNamedType(type)) || isAbstractType(getNamedType(type));
