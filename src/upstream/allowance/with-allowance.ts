import type { RestAnswer, RestClient, RestOutcome } from '../upstream-client.ts';
import type { Allowance } from './allowance.ts';

/**
 * Counts every call against the month's allowance, retries too, so it belongs right around the transport. When nothing is
 * left it answers in the upstream's stead, as upstreams do: 429, and in `Retry-After` when the next month begins.
 */
export function withAllowance(client: RestClient, allowance: Allowance): RestClient {
  return {
    ...client,
    async send(request, caller, withinMs) {
      caller.signal.throwIfAborted();
      const place = await allowance.take();
      if (place.kind === 'used-up') return refuse(place.renewsAt);
      if (caller.signal.aborted) {
        place.giveBack();
        throw caller.signal.reason;
      }
      // From here on a caller who leaves gets nothing back: the call may be on its way.
      const outcome = await client.send(request, caller, withinMs);
      if (outcome.kind === 'answer') place.learn(outcome.headers);
      else if (isNeverSent(outcome)) place.giveBack();
      return outcome;
    },
  };
}

function isNeverSent(outcome: RestOutcome): boolean {
  return outcome.kind === 'failure' && (outcome.reason === 'unreachable' || outcome.reason === 'shed');
}

/** Marked as ours: nothing around this may take it for the upstream's word. */
function refuse(renewsAt: Date): RestAnswer {
  const headers = { 'retry-after': renewsAt.toUTCString() };
  return { kind: 'answer', status: 429, headers, text: '', json: undefined, isOurs: true };
}
