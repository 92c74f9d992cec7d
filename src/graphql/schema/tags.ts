/*
 * Contract supergraphs exclude fields by these tags (https://specs.apollo.dev/tag/). Types are not tagged: excluding a
 * type would exclude other subgraphs' fields of it as well.
 */

/** An IBAN, the parts that identify an account, and the query fields with such arguments. */
export const personalData = { name: 'tag', args: { name: 'personal-data' } } as const;

/** May cause a paid upstream call. */
export const paid = { name: 'tag', args: { name: 'paid' } } as const;
