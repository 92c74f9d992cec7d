import type { ServiceName } from './errors.ts';

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

type CallOutcome = { kind: 'answered'; status: number } | { kind: 'failed'; reason: string };
