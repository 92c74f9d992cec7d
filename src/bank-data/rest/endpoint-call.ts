import type { RequestContext } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { RestClient, RestOutcome } from '../../upstream/upstream-client.ts';
import { notOffered, toUpstreamError } from '../../upstream/upstream-error.ts';

/** Answers a question to the service. Whatever is no answer is thrown, as the failure table has it. */
export type Ask = <Answer>(question: Question<Answer>) => Promise<Answer>;

export interface Question<Answer> {
  endpoint: string;
  query: Readonly<Record<string, string>>;
  /** Answers null when the body cannot be an answer. */
  read: (body: unknown) => Answer | null;
  /** What 422 answers: input that the service takes for wrong is data. */
  unprocessable?: Answer;
  /** Not every plan has it and not every host offers it, so that 403 is no word about our key. */
  isOptional?: boolean;
}

/** Asks for as long as somebody waits for the answer. */
export function createAsk(client: RestClient, events: Events, caller: RequestContext): Ask {
  return async ({ endpoint, query, read, unprocessable, isOptional = false }) => {
    const outcome = await client.send({ method: 'GET', path: `/bank_data/${endpoint}`, query }, caller);
    if (isStatus(outcome, 422) && unprocessable !== undefined) return unprocessable;
    if (isStatus(outcome, 403) && isOptional) throw notOffered('bank-data');
    const answer = isStatus(outcome, 200) ? read(outcome.json) : null;
    if (answer === null) throw toUpstreamError('bank-data', outcome, events);
    return answer;
  };
}

function isStatus(outcome: RestOutcome, status: number): outcome is Extract<RestOutcome, { kind: 'answer' }> {
  return outcome.kind === 'answer' && outcome.status === status;
}
