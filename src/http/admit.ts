import type { Admission } from '../auth/admission.ts';
import type { Unsigned } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { Refusal } from '../auth/refusal.ts';
import { costHeader, traceHeader } from '../graphql/request/reply.ts';
import type { Exchange, MaybePromise } from './exchange.ts';

export interface Admit {
  /** By the headers. Continues with null if the request may be signed in its body. */
  byHeaders(exchange: Exchange, next: (caller: Caller | null) => MaybePromise<void>): MaybePromise<void>;
  /** By the parameters, if the headers did not identify the caller. */
  byParams(
    exchange: Exchange,
    readParams: () => object,
    next: (caller: Caller) => MaybePromise<void>,
  ): MaybePromise<void>;
}

/** Finds the caller of a request and continues, or refuses the request. */
export function createAdmit({ admit, admitBody }: Admission): Admit {
  return {
    byHeaders(exchange, next) {
      return decide(exchange, admit(exchange.request.rawHeaders), next);
    },
    byParams(exchange, readParams, next) {
      return exchange.caller ? next(exchange.caller) : decide(exchange, admitBody(readParams()), next as NextOfAny);
    },
  };
}

type Decision = Caller | Refusal | Unsigned;
type NextOfAny = (caller: Caller | null) => MaybePromise<void>;

function decide(exchange: Exchange, decision: Decision | Promise<Decision>, next: NextOfAny): MaybePromise<void> {
  if (decision instanceof Promise) return decision.then((decided) => decide(exchange, decided, next));
  if (decision.kind === 'refused') {
    const { status, code, message, headers } = decision;
    return exchange.sendError(status, code, message, Object.entries(headers).flat());
  }
  if (decision.kind === 'unsigned') return next(null);
  setCaller(exchange, decision);
  return next(decision);
}

/** Also removes the headers that ask for extensions which the caller may not receive. */
function setCaller(exchange: Exchange, caller: Caller): void {
  exchange.caller = caller;
  const { headers } = exchange;
  if (headers[costHeader] !== undefined && !caller.scopes.has('cost')) delete headers[costHeader];
  if (headers[traceHeader] !== undefined && !caller.scopes.has('traces')) delete headers[traceHeader];
}
