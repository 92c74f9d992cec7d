import SchemaBuilder from '@pothos/core';
import DirectivesPlugin from '@pothos/plugin-directives';
import type { Context } from './context.ts';

/** Its only state is the shape of the schema. */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Directives: FederationDirectives;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: never; Output: Date };
    Date: { Input: never; Output: string };
    IBAN: { Input: never; Output: string };
    BIC: { Input: never; Output: string };
    _Any: { Input: unknown; Output: never };
  };
}>({ plugins: [DirectivesPlugin], defaultFieldNullability: false });

/** Those in use, see https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/directives */
type FederationDirectives = {
  link: { locations: 'SCHEMA'; args: { url: string; import: readonly string[] } };
  key: { locations: 'OBJECT'; args: { fields: string } };
  specifiedBy: { locations: 'SCALAR'; args: { url: string } };
  shareable: { locations: 'OBJECT'; args: Record<never, never> };
  tag: { locations: 'FIELD_DEFINITION' | 'INPUT_FIELD_DEFINITION'; args: { name: string } };
  cost: { locations: 'OBJECT' | 'FIELD_DEFINITION'; args: { weight: number } };
  listSize: {
    locations: 'FIELD_DEFINITION';
    args: {
      assumedSize?: number;
      slicingArguments?: readonly string[];
      sizedFields?: readonly string[];
      requireOneSlicingArgument?: boolean;
    };
  };
};

/* Types that several nouns use. */

export const DateTimeType = builder.scalarType('DateTime', {
  description: 'A date and time in UTC, in RFC 3339 format: 2026-12-01T00:00:00.000Z.',
  ...specifiedBy('https://scalars.graphql.org/andimarek/date-time'),
  serialize: (date) => date.toISOString(),
});

export const DateType = builder.scalarType('Date', {
  description: 'A day in ISO 8601 format: 2026-03-01.',
  ...specifiedBy('https://scalars.graphql.org/andimarek/local-date'),
  serialize: String,
});

export const IbanType = builder.scalarType('IBAN', {
  description:
    'An IBAN by ISO 13616, without spaces and hyphens, in upper case: DE89370400440532013000. It is valid, except in the result of a ' +
    'validation, which repeats what was sent. Only in results: arguments are of type String, because an IBAN with spaces is accepted.',
  ...specifiedBy('https://www.iso.org/standard/81090.html'),
  serialize: String,
});

export const BicType = builder.scalarType('BIC', {
  description:
    'A BIC by ISO 9362, of 8 or 11 characters: COBADEFFXXX. It is valid, except in the result of a validation, which repeats what was ' +
    'sent. Only in results: arguments are of type String, because a BIC with spaces is accepted.',
  ...specifiedBy('https://www.iso.org/standard/84108.html'),
  serialize: String,
});

/** For introspection, and as a directive for the SDL of the subgraph. */
function specifiedBy(url: string) {
  return { specifiedByURL: url, directives: [{ name: 'specifiedBy' as const, args: { url } }] };
}

export const NodeType = builder.interfaceRef<object>('Node').implement({
  description: 'An object that a client finds again by its id: `node(id:)`.',
  fields: (t) => ({ id: t.id({ description: 'Identifies the object among those of all types; otherwise opaque.' }) }),
  // By fields that only one of them has, as resolvers return what the ports do.
  resolveType(node) {
    if ('problems' in node) return 'IbanValidation';
    if ('state' in node) return 'EssayOrder';
    return 'text' in node ? 'Essay' : 'BankData';
  },
});

export const UserErrorType = builder.interfaceRef<{ message: string }>('UserError').implement({
  description: 'A failure that the client can act on.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, as a message for users.' }) }),
});
