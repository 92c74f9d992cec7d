import { createYoga } from 'graphql-yoga';
import type { BankDataPort } from '../bank-data/bank-data.ts';
import type { EssaysPort } from '../essays/essays.ts';
import type { Events } from '../telemetry/events.ts';
import type { Redact } from '../telemetry/redact.ts';
import { createContext } from './context.ts';
import { usePresentedErrors } from './plugins/use-presented-errors.ts';
import { schema } from './schema/schema.ts';

/** What the door knows of a request before GraphQL does; without a door, nothing. */
export interface ServerContext {
  requestId?: string;
}

interface GraphqlServerOptions {
  bankData: BankDataPort;
  essays: EssaysPort;
  maxIbansPerQuery: number;
  /** Origins whose pages may call from a browser; `*` for any. */
  corsOrigins: readonly string[];
  redact: Redact;
  events: Events;
}

/** GraphQL over HTTP at /graphql. Size, caller and GraphiQL are the door's business; errors are shown by one plugin. */
export function createGraphqlServer({
  bankData,
  essays,
  maxIbansPerQuery,
  corsOrigins,
  redact,
  events,
}: GraphqlServerOptions) {
  return createYoga<ServerContext>({
    schema,
    context: ({ request }) => createContext({ bankData, essays, maxIbansPerQuery }, request.signal),
    plugins: [usePresentedErrors({ redact, events })],
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
