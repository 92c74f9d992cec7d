/*
 * Directives for routers. Static costs limit the cost of an operation
 * (https://ibm.github.io/graphql-specs/cost-spec.html); the defaults are 1 for an object and 0 for a scalar. Contract
 * supergraphs exclude fields by their tags (https://specs.apollo.dev/tag/). Types are not tagged: excluding a type would
 * exclude other subgraphs' fields of it as well.
 */

/** One call to the bank-data service. */
export const lookUpCost = { name: 'cost', args: { weight: 10 } } as const;

/** Takes as long as about ten fields. */
export const suggestionsCost = { name: 'cost', args: { weight: 5 } } as const;

/** An essay takes a minute and costs many times as much as a look-up. */
export const essayCost = { name: 'cost', args: { weight: 100 } } as const;

/** A text of up to 10,000 characters: 8 MB have 1,000 of them, or 100,000 ordinary fields. */
export const longTextCost = { name: 'cost', args: { weight: 100 } } as const;

/** Reads a whole text, or returns up to 20 titles of 200 characters. */
export const textReadingCost = { name: 'cost', args: { weight: 10 } } as const;

/**
 * The extension of a nullable field that is null only with an error, or whose items are (level 1): `@semanticNonNull` for clients
 * (https://specs.apollo.dev/nullability/v0.4). Routers do not know it.
 */
export const nullOnlyWithError = { semanticNonNull: [0] };
export const itemsNullOnlyWithError = { semanticNonNull: [0, 1] };

/** The size of a list that cannot be declared by its arguments: slicing arguments must be integers. */
export function assumeSize(assumedSize: number) {
  return { name: 'listSize', args: { assumedSize } } as const;
}

/** An IBAN, the parts that identify an account, and the query fields with such arguments. */
export const personalData = { name: 'tag', args: { name: 'personal-data' } } as const;

/** May cause a paid upstream call. */
export const paid = { name: 'tag', args: { name: 'paid' } } as const;
