import { createYoga } from 'graphql-yoga';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import { type ContextParts, createContext } from './context.ts';
import { useCost } from './plugins/use-cost.ts';
import { usePresentedErrors } from './plugins/use-presented-errors.ts';
import { schema } from './schema/schema.ts';

/** What the door knows of a request before GraphQL does; without a door, nothing. */
export interface ServerContext {
  requestId?: string;
}

interface GraphqlServerOptions extends ContextParts {
  /** Origins whose pages may call from a browser; `*` for any. */
  corsOrigins: readonly string[];
  redact: Redact;
  events: Events;
}

/** GraphQL over HTTP at /graphql. Size, caller and GraphiQL are the door's business; errors are shown by one plugin. */
export function createGraphqlServer({ corsOrigins, redact, events, ...parts }: GraphqlServerOptions) {
  return createYoga<ServerContext>({
    schema,
    context: ({ request }) => createContext(parts, request.signal),
    plugins: [useCost(), usePresentedErrors({ redact, events })],
    cors: corsOrigins.length > 0 && { origin: [...corsOrigins], credentials: false },
    maskedErrors: false,
    maxRequestBodySize: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    healthCheckEndpoint: '/health',
    logging: false,
  });
}
