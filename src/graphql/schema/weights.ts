/*
 * What a field costs a router that keeps operations within a budget (https://ibm.github.io/graphql-specs/cost-spec.html).
 * Unweighted, an object costs 1 and a value nothing.
 */

/** One question to the bank-data service. */
export const lookUpWeight = 10;

/** An essay takes a minute and costs many times a look-up. */
export const essayWeight = 100;

/** How many IBANs one page asks for. A list argument cannot say it: slicing arguments are numbers. */
export const assumedIbans = 50;
