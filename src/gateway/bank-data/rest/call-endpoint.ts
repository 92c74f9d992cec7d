import type { RequestContext } from '../../request-context.ts';
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

/** Calls one endpoint. Rejects with a GatewayError if the outcome contains no readable answer. */
export type CallEndpoint = <Input, Answer>(
  endpoint: Endpoint<Input, Answer>,
  request: { input: Input; query: Readonly<Record<string, string>> },
  context: RequestContext,
) => Promise<Answer>;

export function createCallEndpoint(
  client: UpstreamClient,
  events: UpstreamErrorEvents,
  dataVersion: Pick<DataVersion, 'report'>,
): CallEndpoint {
  return async ({ path, isAbout, read, answer422, isOptional = false }, { input, query }, context) => {
    const isAnswer = (json: unknown) => isAbout === undefined || isAbout(json, input);
    const outcome = await client.send({ method: 'GET', path, query, isAnswer }, context);
    if (outcome.kind === 'budget-exhausted') throw createBudgetError('bank-data', outcome);
    if (outcome.kind === 'answered') {
      const { status, headers, json } = outcome;
      const version = headers[dataVersionHeader];
      if (typeof version === 'string') dataVersion.report(version);
      if (status === 422 && answer422 !== undefined) return answer422(input);
      if (status === 403 && isOptional) throw createNotOfferedError('bank-data');
      const answer = status === 200 ? read(json, input) : null;
      if (answer !== null) return answer;
    }
    throw toUpstreamError('bank-data', outcome, events);
  };
}
