/*
 * What contract supergraphs filter by (https://specs.apollo.dev/tag/): each tag says why somebody may want to leave a
 * field out. Only fields are tagged, never a type: the filter would take away other subgraphs' fields of that type too.
 */

/** An IBAN, the parts of it that point to one account, and the questions that take one. */
export const personalData = 'personal-data';

/** May cost an upstream call, which somebody pays for. */
export const paid = 'paid';
