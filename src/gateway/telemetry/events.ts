import type { ServiceName, StoreFailure, StoreRisk } from '../../base/errors.ts';
import type { CallOrigin } from '../request-context.ts';
import type { CallOutcome } from '../trace.ts';
import type { FinishedRequest } from './finished-request.ts';

/** A call that may be charged. */
export interface CallInfo {
  service: ServiceName;
  method: 'GET' | 'POST';
  /** Without the query string, which may contain an IBAN. */
  path: string;
  origin: CallOrigin;
  cause: CallCause;
}

/** `expired`: an earlier answer was too old. `revalidation`: a client got the earlier answer meanwhile. */
export type CallCause = 'new' | 'expired' | 'retry' | 'revalidation';

export interface EndedCall {
  /** Null: it was not sent, or was given up. */
  outcome: CallOutcome | null;
  /** Whether it was sent, and thus may be charged. */
  isSent: boolean;
  durationMs: number;
}

interface EndedOrder {
  orderId: string;
  /** The name, without personal data. */
  caller: string;
  state: 'finished' | 'failed' | 'cancelled';
  /** The code of a failure. */
  code?: string | undefined;
  /** Sent by the process that has ended it, with retries. An earlier process may have sent one. */
  upstreamCalls: number;
}

/**
 * The events of the gateway. Its parts fire them, and log and metrics listen. No function throws. No argument contains
 * personal data, except possibly `error` and the texts of a client in a request.
 */
export interface Events {
  /** Once per request: when its response was written, or the client has disconnected. */
  requestFinished(request: FinishedRequest): void;
  /** Closed because of a limit. */
  connectionRefused(): void;
  /** Before a call of an order is sent. */
  callBegins(call: CallInfo): void;
  callEnded(call: CallInfo, ended: EndedCall): void;
  /** Lines of the audit trail cannot be written. Fired once until they can be again. */
  auditFailed(reason: string): void;
  /** @param lost lines that did not fit into memory meanwhile */
  auditRecovered(lost: number): void;
  /** With its retries. Not fired if the client aborted it. */
  upstreamOperationEnded(service: ServiceName, outcome: OperationOutcome): void;
  /** A look-up waits for the call of another one. */
  flightJoined(): void;
  essayOrdered(outcome: EssayOutcome): void;
  /** An order that was started has its last state. */
  essayOrderEnded(order: EndedOrder): void;
  /** This process continues orders that another one has queued, or ends those of one that has died. */
  essayOrdersAdopted(count: number): void;
  /** A stored order, or its entry in a list, is damaged or of a later version, and was skipped. */
  essayOrderUnreadable(): void;
  credentialsRejected(service: ServiceName): void;
  /** By the service itself, whatever allowance is configured. */
  callRefused(service: ServiceName): void;
  responseUnreadable(service: ServiceName, status: number): void;
  requestRejected(service: ServiceName, status: number): void;
  circuitChanged(service: ServiceName, path: string, state: CircuitState): void;
  /** The store begins to fail. */
  storeDown(failure: StoreFailure, reason: string): void;
  /** It works for the first time, or again. */
  storeUp(): void;
  /** A write failed, or the connection, or a look-up did not wait for an answer any longer (timeout). */
  storeFailed(failure: StoreFailure): void;
  /** What it has stored is not safe, or is so again. */
  storeRisksChanged(risks: readonly StoreRisk[]): void;
  allowanceNearlyExhausted(service: ServiceName, percent: number): void;
  /** Fired once per outage of the store. */
  allowanceNotStored(service: ServiceName, reason: string): void;
  /** The operator has changed the count of this month. */
  allowanceCorrected(service: ServiceName, from: number, to: number): void;
  /** The stored count of an allowance or a budget went backwards, because the store lost data: these calls were added back. */
  countRestored(service: ServiceName, calls: number): void;
  /** Fired once per outage of the store. */
  essayWriteBuffered(reason: string): void;
  essayRejectedWithoutStore(): void;
  essayLost(reason: string): void;
  /** The clock was set by more than a minute. @param seconds below 0: back */
  clockStepped(seconds: number): void;
  tracesNotExported(reason: string): void;
  unexpectedError(error: unknown, origin: { requestId: string } | { orderId: string }): void;
  /** A browser asked whether a page of this origin may call the gateway, and CORS_ORIGINS does not list the origin. */
  preflightRefused(origin: string): void;
  /** A configured file was read again. @param count of the keys or documents in it */
  fileReloaded(file: ConfiguredFile, count?: number): void;
  /** Its last valid content remains in use. */
  fileInvalid(file: ConfiguredFile, reason: string): void;
  /** The blocked callers are others now. @param names of all of them: of subjects, the hash, as in the log */
  callersBlocked(names: readonly string[]): void;
  /** Cached look-ups were taken back at this gateway, for all that share them. @param kind without the value, which may be an IBAN */
  lookUpsPurged(kind: string): void;
  keySetUnavailable(reason: string): void;
  rateLimitNotShared(reason: string): void;
  /** Fired once per outage of the store. */
  budgetsNotStored(reason: string): void;
  /** A trusted document is marked as a tool of agents, and cannot be one. */
  toolInvalid(reason: string): void;
  /** Executed, although it is not in a manifest. */
  untrustedDocument(): void;
}

/** The variables of the files that are read again when they change. */
export const configuredFiles = [
  'BANK_DATA_API_KEY_FILE',
  'ESSAY_API_KEY_FILE',
  'GATEWAY_API_KEYS_FILE',
  'STORE_SECRET_FILE',
  'STORE_SECRET_OLD_FILE',
  'TRUSTED_DOCUMENTS',
] as const;
export type ConfiguredFile = (typeof configuredFiles)[number];

/** `half_open`: one call tests whether the path works again. */
export type CircuitState = (typeof circuitStates)[number];
export const circuitStates = ['closed', 'open', 'half_open'] as const;

/** refused: because of too many calls, or an exhausted allowance; rejected: because of the key. */
export type OperationOutcome =
  | 'answered'
  | 'failed'
  | 'refused'
  | 'rejected'
  | 'shed'
  | 'blocked'
  | 'exhausted'
  | 'budget-exhausted'
  | 'uncounted';

/** from_key: the result of an earlier order with the same idempotency key. */
export type EssayOutcome = 'generated' | 'from_key' | 'rejected' | 'exhausted' | 'failed';

type Listener = (...values: unknown[]) => void;

/** Passes each event on to the listeners that have a function for it. */
export function joinEvents(log: Events, ...others: readonly Partial<Events>[]): Events {
  const listeners = [log, ...others];
  const names = Object.keys(log) as (keyof Events)[];
  const joined = names.map((name) => {
    const listening = listeners.flatMap((events) => (events[name] as Listener | undefined) ?? []);
    const fire: Listener = (...values) => {
      for (const listen of listening) listen(...values);
    };
    return [name, fire];
  });
  return Object.fromEntries(joined);
}

/** The function of an event without a listener. */
export function ignore(): void {}
