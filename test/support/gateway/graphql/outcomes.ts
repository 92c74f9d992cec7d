import { type ExecutionResult, execute, type GraphQLError } from 'graphql';
import { AbortableSignal } from '../../../../src/base/async/signal.ts';
import { createRedact } from '../../../../src/base/redact.ts';
import { locate, parseDetached } from '../../../../src/gateway/graphql/documents/document-errors.ts';
import { describeFailure } from '../../../../src/gateway/graphql/request/present-error.ts';
import { type Context, createContext, type Services } from '../../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../caller.ts';
import type { RandomRequest } from './random-documents.ts';
import { tServices } from './scripted-services.ts';

/* What the execution of a request results in, as far as clients see it. */

export interface Outcome {
  data: string | undefined;
  errors: readonly string[];
}

/** As GraphQL.js executes it. */
export async function interpret({ query, variables }: RandomRequest): Promise<Outcome> {
  const document = parseDetached(query);
  return toOutcome(await execute({ schema, document, variableValues: variables, contextValue: tContext() }));
}

/** The order of errors is that in which look-ups fail. */
export function toOutcome({ data, errors = [] }: ExecutionResult): Outcome {
  return { data: JSON.stringify(data), errors: errors.map(describeError).sort() };
}

function describeError(error: GraphQLError): string {
  const { message, extensions, isExpected } = describeFailure(error, { hidesSuggestions: false, redact });
  return JSON.stringify({ message, code: extensions.code, path: error.path, locations: locate(error), isExpected });
}

const redact = createRedact([]);

export function tContext(services: Services = tServices()): Context {
  return createContext(services, tCaller, new AbortableSignal());
}
