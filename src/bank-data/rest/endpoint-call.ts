import type { RequestContext } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { notOffered, toUpstreamError } from '../../upstream/upstream-error.ts';

interface EndpointCall<Answer> {
  endpoint: string;
  query: Readonly<Record<string, string>>;
  /** Returns null when the body cannot be an answer. */
  read: (body: unknown) => Answer | null;
  /** The answer for 422: input that the service finds invalid is data. */
  unprocessable?: Answer;
  /** Not part of every plan and host, so 403 does not mean that the key was rejected. */
  isOptional?: boolean;
}

/** Calls one endpoint. Throws every outcome without an answer as a GatewayError. */
export type CallEndpoint = <Answer>(call: EndpointCall<Answer>, context: RequestContext) => Promise<Answer>;

export type EndpointEvents = Pick<Events, 'credentialsRejected' | 'requestRejected' | 'responseUnreadable'>;

export function createEndpointCalls(client: UpstreamClient, events: EndpointEvents): CallEndpoint {
  return async ({ endpoint, query, read, unprocessable, isOptional = false }, context) => {
    const outcome = await client.send({ method: 'GET', path: `/bank_data/${endpoint}`, query }, context);
    if (outcome.kind === 'answered') {
      if (outcome.status === 422 && unprocessable !== undefined) return unprocessable;
      if (outcome.status === 403 && isOptional) throw notOffered('bank-data');
      const answer = outcome.status === 200 ? read(outcome.json) : null;
      if (answer !== null) return answer;
    }
    throw toUpstreamError('bank-data', outcome, events);
  };
}
