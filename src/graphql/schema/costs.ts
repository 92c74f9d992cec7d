/*
 * Static costs for routers that limit the cost of an operation (https://ibm.github.io/graphql-specs/cost-spec.html).
 * The defaults are 1 for an object and 0 for a scalar.
 */

/** One call to the bank-data service. */
export const lookUpCost = { name: 'cost', args: { weight: 10 } } as const;

/** Takes as long as about ten fields. */
export const suggestionsCost = { name: 'cost', args: { weight: 5 } } as const;

/** An essay takes a minute and costs many times as much as a look-up. */
export const essayCost = { name: 'cost', args: { weight: 100 } } as const;

/** For lists whose real size cannot be declared: slicing arguments must be integers. */
export function assumeSize(assumedSize: number) {
  return { name: 'listSize', args: { assumedSize } } as const;
}

/** A typical list of IBANs. */
export const assumedIbans = 50;
