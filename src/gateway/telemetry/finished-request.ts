import type { Usage } from '../request-context.ts';

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
