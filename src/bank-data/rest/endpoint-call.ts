import type { RequestContext } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { createNotOfferedError, toUpstreamError } from '../../upstream/upstream-error.ts';

interface EndpointRequest<Answer> {
  endpoint: string;
  query: Readonly<Record<string, string>>;
  /** Null if the body does not have the expected shape. */
  read: (body: unknown) => Answer | null;
  /** Returned on 422: invalid input is a regular answer, not an error. */
  answerFor422?: Answer;
  /** When the first of several calls with one common deadline began, by `performance.now()`. */
  startedAt?: number;
  /** Some plans and hosts do not offer this endpoint: then 403 does not mean that the key was rejected. */
  isOptional?: boolean;
}

/** Calls one endpoint. Throws a GatewayError if the outcome contains no readable answer. */
export type CallEndpoint = <Answer>(request: EndpointRequest<Answer>, context: RequestContext) => Promise<Answer>;

export type EndpointEvents = Pick<Events, 'credentialsRejected' | 'requestRejected' | 'responseUnreadable'>;

export function createCallEndpoint(client: UpstreamClient, events: EndpointEvents): CallEndpoint {
  return async ({ endpoint, query, read, answerFor422, isOptional = false, ...options }, context) => {
    const outcome = await client.send({ method: 'GET', path: `/bank_data/${endpoint}`, query, ...options }, context);
    if (outcome.kind === 'answered') {
      if (outcome.status === 422 && answerFor422 !== undefined) return answerFor422;
      if (outcome.status === 403 && isOptional) throw createNotOfferedError('bank-data');
      const answer = outcome.status === 200 ? read(outcome.json) : null;
      if (answer !== null) return answer;
    }
    throw toUpstreamError('bank-data', outcome, events);
  };
}
