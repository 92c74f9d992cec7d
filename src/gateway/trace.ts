import type { ServiceName } from '../base/errors.ts';

/** The parent of spans in one sampled request. Null wherever a request is not sampled, or no traces are exported. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** A batch of look-ups. */
  startLoad(loader: 'ibans' | 'bics', keys: number): LoadSpan;
  /** One HTTP call to an upstream. */
  startCall(call: CallToTrace): CallSpan;
}

interface LoadSpan extends Trace {
  end(): void;
}

interface CallToTrace {
  service: ServiceName;
  method: string;
  /** Without the query string, which may contain an IBAN. */
  path: string;
  /** 0 for the first attempt of an operation. */
  retries: number;
}

export interface CallSpan {
  /** W3C trace context: names and values of headers, one after the other. */
  readonly headers: readonly string[];
  /** @param outcome null: the caller aborted */
  end(outcome: CallOutcome | null): void;
}

export type CallOutcome =
  | { kind: 'answered'; status: number; fault: string | null }
  | { kind: 'failed'; reason: string; code?: string };

/** The span of a client that sent a request. */
interface TraceParent {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

/** Reads the header `traceparent`; null if it is absent or not valid. https://www.w3.org/TR/trace-context/ */
export function parseTraceParent(header: string | string[] | undefined): TraceParent | null {
  if (typeof header !== 'string') return null;
  const [, traceId, spanId, flags, rest] = pattern.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  // Only later versions may have more parts.
  if (rest !== undefined && header.startsWith('00')) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
