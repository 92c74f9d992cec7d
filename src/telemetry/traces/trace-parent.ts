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
