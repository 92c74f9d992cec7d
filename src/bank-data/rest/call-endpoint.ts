import type { RequestContext } from '../../request-context.ts';
import type { Outcome } from '../../upstream/outcome.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import {
  createBudgetError,
  createNotOfferedError,
  toUpstreamError,
  type UpstreamErrorEvents,
} from '../../upstream/upstream-error.ts';
import { type DataVersion, dataVersionHeader } from '../data-version.ts';

/** What is the same for all calls of an endpoint. */
export interface Endpoint<Input, Answer> {
  path: `/bank_data/${'iban_validate' | 'iban_generate' | 'swift_check' | 'all'}`;
  /** Whether the body of a 200 is about this input, as far as it says so. */
  isAbout?: (body: unknown, input: Input) => boolean;
  /** Null if the body does not have the expected shape. */
  read: (body: unknown, input: Input) => Answer | null;
  /** Called on 422: invalid input is a regular answer, not an error. */
  answer422?: (input: Input) => Answer;
  /** Some plans and hosts do not offer this endpoint: then 403 does not mean that the key was rejected. */
  isOptional?: boolean;
}

interface EndpointRequest<Input> {
  input: Input;
  query: Readonly<Record<string, string>>;
}

/** Calls one endpoint. Rejects with a GatewayError if the outcome contains no readable answer. */
export type CallEndpoint = <Input, Answer>(
  endpoint: Endpoint<Input, Answer>,
  request: EndpointRequest<Input>,
  context: RequestContext,
) => Promise<Answer>;

export function createCallEndpoint(
  client: UpstreamClient,
  events: UpstreamErrorEvents,
  dataVersion: Pick<DataVersion, 'report'>,
): CallEndpoint {
  return async (endpoint, { input, query }, context) => {
    const { path, isAbout } = endpoint;
    const isAnswer = (json: unknown) => isAbout === undefined || isAbout(json, input);
    return readOutcome(endpoint, input, await client.send({ method: 'GET', path, query, isAnswer }, context));
  };

  function readOutcome<Input, Answer>(
    { read, answer422, isOptional = false }: Endpoint<Input, Answer>,
    input: Input,
    outcome: Outcome,
  ): Answer {
    if (outcome.kind === 'answered') {
      const version = outcome.headers[dataVersionHeader];
      if (typeof version === 'string') dataVersion.report(version);
      if (outcome.status === 422 && answer422 !== undefined) return answer422(input);
      if (outcome.status === 403 && isOptional) throw createNotOfferedError('bank-data');
      const answer = outcome.status === 200 ? read(outcome.json, input) : null;
      if (answer !== null) return answer;
    }
    if (outcome.kind === 'budget-exhausted') throw createBudgetError('bank-data', outcome);
    throw toUpstreamError('bank-data', outcome, events);
  }
}
