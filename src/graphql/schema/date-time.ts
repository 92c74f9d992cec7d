import { builder } from './builder.ts';

export const DateTimeType = builder.scalarType('DateTime', {
  description: 'A moment in UTC, as RFC 3339 writes it: 2026-12-01T00:00:00.000Z.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (date) => date.toISOString(),
});
