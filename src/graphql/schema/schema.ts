import './bank.ts';
import './bank-connection.ts';
import './bic.ts';
import './country.ts';
import './essay.ts';
import './generate-iban.ts';
import './iban.ts';
import { builder } from './builder.ts';

builder.queryType({ description: 'Questions. Each costs at most one upstream call per IBAN.' });
builder.mutationType({ description: 'Orders. They are paid for, so none is sent twice.' });

export const schema = builder.toSchema({ sortSchema: true });
