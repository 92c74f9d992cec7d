import type { ServiceName, StoreFailure, StoreRisk } from '../../base/errors.ts';
import type { CallOrigin, Usage } from '../request-context.ts';
import type { CallOutcome } from '../trace.ts';

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
  orderCallBegins(call: CallInfo): void;
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
  /** @param outage why it is open, and how many probes have failed; null: it is closed */
  circuitChanged(service: ServiceName, path: string, state: CircuitState, outage: CircuitOutage | null): void;
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
  notExported(what: 'spans' | 'metrics' | 'lines of the log', reason: string): void;
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
  'REDIS_URL_FILE',
  'STORE_SECRET_FILE',
  'STORE_SECRET_OLD_FILE',
  'TRUSTED_DOCUMENTS',
] as const;
type ConfiguredFile = (typeof configuredFiles)[number];

/** `half_open`: one call tests whether the path works again. */
export type CircuitState = (typeof circuitStates)[number];
export const circuitStates = ['closed', 'open', 'half_open'] as const;

export interface CircuitOutage {
  /** The service fails, its allowance is exhausted, or it rejects the key. */
  cause: 'failure' | 'allowance' | 'credentials';
  /** Probes that have failed. */
  probes: number;
}

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

/** An HTTP request after its response. */
export interface FinishedRequest {
  readonly method: string;
  readonly route: RequestRoute;
  /** 499 if the client disconnected before the response. */
  readonly status: number;
  readonly requestId: string;
  /** The id of its trace, or of the client's trace if it is not sampled; null if there is none. */
  readonly traceId: string | null;
  /** Without personal data. Null if it was not admitted. */
  readonly callerName: string | null;
  /** Sent by the client: printable and short, but any text. Empty if it sent none. */
  readonly clientName: string;
  readonly clientVersion: string;
  /** When it ended, by `performance.now()`. */
  readonly endedAt: number;
  readonly durationMs: number;
  /** The time in which it waited neither for its body nor for an upstream, in milliseconds. */
  readonly overheadMs: number;
  /** Null if no reply was created. */
  readonly reply: FinishedReply | null;
  /** The codes of the reply, or of an HTTP error. */
  readonly errorCodes: readonly string[];
}

/** The first code of an error that is not the client's: an upstream or the gateway itself failed. */
export function findFault(errorCodes: readonly string[]): string | undefined {
  return errorCodes.find((code) => code.startsWith('UPSTREAM_') || code === 'INTERNAL_SERVER_ERROR');
}

/** The methods that metrics and spans name. */
export const knownMethods: readonly string[] = ['GET', 'POST', 'QUERY', 'OPTIONS', 'HEAD'];

/** A method in metrics and spans, by the semantic conventions of OpenTelemetry. */
export function methodLabel(method: string): string {
  return knownMethods.includes(method) ? method : '_OTHER';
}

export type RequestRoute = '/graphql' | '/check' | '/mcp' | '/health' | '/ready' | 'other';

export type OperationType = 'query' | 'mutation' | 'subscription';

/** The GraphQL part of a response. */
export interface FinishedReply {
  /** Null if no operation was executed. */
  readonly operationType: OperationType | null;
  /** Chosen by the client, at most 100 characters. Empty if it has none. */
  readonly operationName: string;
  /** The id of a persisted or trusted document. Null for other documents: a hash of a document could reveal an IBAN in it. */
  readonly documentId: string | null;
  /** Whether the operator knows the document, and thus the name of the operation. */
  readonly isTrusted: boolean;
  /** The types of the results of orders and generations, each once. */
  readonly outcomes: readonly string[];
  /** The codes of errors, and of results that are failures; each once. */
  readonly errorCodes: readonly string[];
  /** Why it was refused, where its code has other meanings, too. */
  readonly refusal: 'cost' | 'response_size' | null;
  /** Null if no operation was executed. A kept reply has the usage of the request that it was created for. */
  readonly usage: Readonly<Usage> | null;
  /** Whether it was created for an earlier request. */
  readonly isKept: boolean;
}
