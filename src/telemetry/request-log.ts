import { ignore } from './events.ts';
import { type FinishedRequest, findFault } from './finished-request.ts';
import type { Log } from './log.ts';

export interface RequestLog {
  requestFinished(request: FinishedRequest): void;
  /** Lines that were not written. */
  droppedLines(): number;
}

/**
 * Logs one line per request, except health checks. At most `perSecond` lines of failed requests and as many of others are
 * written in a second; further ones are counted, and their number is logged. 0: no lines. A line is written soon after its
 * response, so that the next request of the same client does not wait for it, and before the process ends.
 */
export function createRequestLog(log: Log, perSecond: number): RequestLog {
  if (perSecond === 0 || !log.isLevelEnabled('info')) return { requestFinished: ignore, droppedLines: () => 0 };
  /** Lines that are not written yet. What is counted after a response, such as retries for a stale entry, is not in its line. */
  let lines: object[] = [];
  let windowEnd = 0;
  let failed = 0;
  let others = 0;
  let dropped = 0;
  let reported = 0;

  return {
    requestFinished(request) {
      if (request.route === '/health' || request.route === '/ready') return;
      if (request.endedAt >= windowEnd) {
        windowEnd = request.endedAt + windowMs;
        failed = 0;
        others = 0;
      }
      const count = isFailure(request) ? ++failed : ++others;
      if (count <= perSecond) {
        if (lines.push(describe(request)) === 1) setTimeout(writeLines, delayMs);
        return;
      }
      dropped += 1;
      if (dropped - reported === 1) setTimeout(summarize, summaryAfterMs).unref();
    },
    droppedLines: () => dropped,
  };

  function writeLines(): void {
    const written = lines;
    lines = [];
    for (const line of written) log.info(line, 'request');
  }

  function summarize(): void {
    log.info({ dropped: dropped - reported, perSecond }, 'requests were not logged: there were too many');
    reported = dropped;
  }
}

const delayMs = 5;
const windowMs = 1_000;
const summaryAfterMs = 10_000;

function isFailure({ status, errorCodes }: FinishedRequest): boolean {
  return status >= 500 || findFault(errorCodes) !== undefined;
}

/** Undefined values are not written. */
function describe(request: FinishedRequest): object {
  const { method, route, status, requestId, traceId, callerName, clientName, clientVersion, errorCodes } = request;
  const { operationType, operationName, documentId, usage, isKept } = request.reply ?? {};
  return {
    requestId,
    traceId: traceId ?? undefined,
    method,
    route,
    status,
    operationType: operationType ?? undefined,
    operationName: operationName || undefined,
    documentId: documentId ?? undefined,
    caller: callerName ?? undefined,
    clientName: clientName || undefined,
    clientVersion: clientVersion || undefined,
    errors: errorCodes.length > 0 ? errorCodes : undefined,
    durationMs: round(request.durationMs),
    overheadMs: round(request.overheadMs),
    lookUps: usage?.lookUps,
    cacheHits: usage?.cacheHits,
    staleHits: usage?.staleHits,
    upstreamCalls: usage?.upstreamCalls,
    kept: isKept || undefined,
  };
}

/** To microseconds. */
function round(durationMs: number): number {
  return Math.round(durationMs * 1_000) / 1_000;
}
