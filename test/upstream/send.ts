import type { RequestContext } from '../../src/request-context.ts';
import type {
  RestAnswer,
  RestClient,
  RestFailureReason,
  RestOutcome,
  RestRequest,
} from '../../src/upstream/upstream-client.ts';

export const get: RestRequest = { method: 'GET', path: '/thing' };
export const post: RestRequest = { method: 'POST', path: '/essay', body: {} };

export function answers(status: number, { json = {}, headers = {} }: Partial<RestAnswer> = {}): RestAnswer {
  return { kind: 'answer', status, headers, text: JSON.stringify(json) ?? '', json };
}

export function fails(reason: RestFailureReason): RestOutcome {
  return { kind: 'failure', reason, text: '' };
}

interface Sent {
  request: RestRequest;
  withinMs: number | undefined;
}

/** A client that answers from a list, the last entry again and again, and records what it was sent. */
export function tClient(...outcomes: [RestOutcome, ...RestOutcome[]]) {
  const sent: Sent[] = [];
  let script = outcomes;
  const client: RestClient = {
    async send(request: RestRequest, { signal }: RequestContext, withinMs) {
      signal.throwIfAborted();
      sent.push({ request, withinMs });
      const [first, ...rest] = script;
      if (rest[0] !== undefined) script = [rest[0], ...rest.slice(1)];
      return first;
    },
    close: async () => {},
  };
  return {
    client,
    sent,
    nowAnswers(...next: [RestOutcome, ...RestOutcome[]]) {
      script = next;
    },
  };
}

/** A client whose answers are held back, one by one. */
export function tSlowClient() {
  const held: { path: string; withinMs: number | undefined; answer: (outcome: RestOutcome) => void }[] = [];
  const client: RestClient = {
    send: ({ path }, { signal }, withinMs) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
        held.push({ path, withinMs, answer: resolve });
      }),
    close: async () => {},
  };
  return { client, held };
}
