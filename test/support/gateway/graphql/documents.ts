import { createPreparedDocuments } from '../../../../src/gateway/graphql/documents/documents.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import { turns } from '../../turns.ts';
import { type Outcome, tContext, toOutcome } from './outcomes.ts';
import type { RandomRequest } from './random-documents.ts';

/** The prepared documents of a gateway, and a function that executes one of them. */
export function tDocuments() {
  const { prepare, status } = createPreparedDocuments({ schema, hasCallers: false });

  async function run({ query, variables }: RandomRequest): Promise<Outcome> {
    const { errors, operation } = prepare(query);
    if (errors.length > 0) return toOutcome({ errors });
    const name = query.startsWith('query A') ? 'A' : null;
    const outcome = toOutcome(await operation(name).execute(tContext(), variables));
    // The next operation is compiled after the current one.
    await turns(3);
    return outcome;
  }

  return { prepare, status, run };
}
