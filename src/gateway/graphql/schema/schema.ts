import './allowance.ts';
import './bank.ts';
import './bic.ts';
import './country.ts';
import './essay.ts';
import './essay-order.ts';
import './generate-iban.ts';
import './iban.ts';
import './limits.ts';
import './node.ts';
import { addTimeSlices } from '../documents/operation.ts';
import { builder } from './builder.ts';
import { addFieldChecks } from './field-checks.ts';
import { federationLink } from './subgraph.ts';

builder.queryType({ description: 'Look-ups. Cached and computed values need no upstream call.' });
builder.subscriptionType({ description: 'Orders while they are written.' });
builder.mutationType({ description: 'Paid orders. An idempotencyKey makes retries safe.' });

export const schema = builder.toSchema({ schemaDirectives: [federationLink] });
addFieldChecks(schema);
addTimeSlices(schema);
