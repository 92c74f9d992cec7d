import './allowance.ts';
import './bank.ts';
import './bank-connection.ts';
import './bic.ts';
import './country.ts';
import './essay.ts';
import './generate-iban.ts';
import './iban.ts';
import { builder } from './builder.ts';
import { settleEntitiesSeparately } from './entities.ts';
import { sortSdl } from './sorted-sdl.ts';

builder.queryType({ description: 'Questions. What is known already, or can be computed, costs no upstream call.' });
builder.mutationType({ description: 'Orders. They are paid for; an idempotencyKey makes it safe to send one again.' });

/**
 * The oldest version that has all that is used here, so that older compositions take it as well: @cost and @listSize
 * came with 2.9.
 */
const subgraph = builder.toSubGraphSchema({ linkUrl: 'https://specs.apollo.dev/federation/v2.9' });

export const schema = sortSdl(settleEntitiesSeparately(subgraph));
