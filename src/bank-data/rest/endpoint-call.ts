import { type Continuation, SyncPromise } from '../../async/sync-promise.ts';
import type { RequestContext } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { Outcome, UpstreamRequest } from '../../upstream/operation.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import { createBudgetError, createNotOfferedError, toUpstreamError } from '../../upstream/upstream-error.ts';
import { type DataVersion, dataVersionHeader } from '../data-version.ts';

/** What is the same for all calls of an endpoint. */
export interface Endpoint<Input, Answer> {
  path: EndpointPath;
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
  /** When the first of several calls with one common deadline began, by `performance.now()`. */
  startedAt?: number;
}

type EndpointPath = `/bank_data/${'iban_validate' | 'iban_generate' | 'swift_check' | 'all'}`;

/** Calls one endpoint. Throws a GatewayError if the outcome contains no readable answer. */
export type CallEndpoint = <Input, Answer>(
  endpoint: Endpoint<Input, Answer>,
  request: EndpointRequest<Input>,
  context: RequestContext,
) => PromiseLike<Answer>;

export type EndpointEvents = Pick<Events, 'credentialsRejected' | 'requestRejected' | 'responseUnreadable'>;

export function createCallEndpoint(
  client: UpstreamClient,
  events: EndpointEvents,
  dataVersion: Pick<DataVersion, 'report'>,
): CallEndpoint {
  return (endpoint, request, context) => {
    const call = new EndpointCall(endpoint, request, readOutcome);
    client.send(call, context, call);
    return call.answer;
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

type ReadOutcome = <Input, Answer>(endpoint: Endpoint<Input, Answer>, input: Input, outcome: Outcome) => Answer;

/** A request to an endpoint. It continues with the outcome. */
class EndpointCall<Input, Answer> implements UpstreamRequest, Continuation<Outcome> {
  readonly answer = new SyncPromise<Answer>();
  readonly method = 'GET';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly startedAt: number | undefined;
  readonly #endpoint: Endpoint<Input, Answer>;
  readonly #input: Input;
  readonly #readOutcome: ReadOutcome;

  constructor(
    endpoint: Endpoint<Input, Answer>,
    { input, query, startedAt }: EndpointRequest<Input>,
    readOutcome: ReadOutcome,
  ) {
    this.path = endpoint.path;
    this.query = query;
    this.startedAt = startedAt;
    this.#endpoint = endpoint;
    this.#input = input;
    this.#readOutcome = readOutcome;
  }

  isAnswer(json: unknown): boolean {
    const { isAbout } = this.#endpoint;
    return isAbout === undefined || isAbout(json, this.#input);
  }

  onResolved(outcome: Outcome): void {
    let answer: Answer;
    try {
      answer = this.#readOutcome(this.#endpoint, this.#input, outcome);
    } catch (error) {
      this.answer.reject(error);
      return;
    }
    this.answer.resolve(answer);
  }

  onRejected(reason: unknown): void {
    this.answer.reject(reason);
  }
}
