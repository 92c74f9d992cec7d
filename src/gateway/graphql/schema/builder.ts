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
    _Any: { Input: unknown; Output: never };
  };
}>({ plugins: [DirectivesPlugin], defaultFieldNullability: false });

/** Those in use, see https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/directives */
type FederationDirectives = {
  link: { locations: 'SCHEMA'; args: { url: string; import: readonly string[] } };
  key: { locations: 'OBJECT'; args: { fields: string } };
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
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (date) => date.toISOString(),
});

export const ErrorType = builder.interfaceRef<{ message: string }>('Error').implement({
  description: 'A failure that the client can act on.',
  fields: (t) => ({ message: t.exposeString('message', { description: 'What went wrong, as a message for users.' }) }),
});
