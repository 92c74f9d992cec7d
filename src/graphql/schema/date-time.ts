import { builder } from './builder.ts';

export const DateTimeType = builder.scalarType('DateTime', {
  description: 'A date and time in UTC, in RFC 3339 format: 2026-12-01T00:00:00.000Z.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time',
  serialize: (date) => date.toISOString(),
});
