/*
 * Static costs for routers that limit the cost of an operation (https://ibm.github.io/graphql-specs/cost-spec.html).
 * The defaults are 1 for an object and 0 for a scalar.
 */

/** One call to the bank-data service. */
export const lookUpWeight = 10;

/** Takes as long as about ten fields. */
export const suggestionsWeight = 5;

/** An essay takes a minute and costs many times as much as a look-up. */
export const essayWeight = 100;

/** A typical list of IBANs. Its real size cannot be declared: slicing arguments must be integers. */
export const assumedIbans = 50;
