import './allowance.ts';
import './bank.ts';
import './bank-connection.ts';
import './bic.ts';
import './country.ts';
import './essay.ts';
import './generate-essay.ts';
import './generate-iban.ts';
import './iban.ts';
import { builder } from './builder.ts';
import { withSeparateEntities } from './entities.ts';
import { withScopes } from './scopes.ts';
import { withSortedSdl } from './sorted-sdl.ts';
import { withTextLimits } from './text-limits.ts';

builder.queryType({ description: 'Look-ups. Cached and computed values need no upstream call.' });
builder.mutationType({ description: 'Paid orders. An idempotencyKey makes retries safe.' });

/** The oldest version with @cost and @listSize, so that older composition tools accept the schema. */
const subgraph = builder.toSubGraphSchema({
  linkUrl: 'https://specs.apollo.dev/federation/v2.9',
  // Otherwise Pothos builds the schema twice to find them.
  federationDirectives: ['@cost', '@key', '@listSize', '@shareable', '@tag'],
});

export const schema = withScopes(withSortedSdl(withTextLimits(withSeparateEntities(subgraph))));
