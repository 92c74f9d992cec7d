import type { Events } from '../events.ts';
import { type FinishedReply, type FinishedRequest, methodLabel } from '../finished-request.ts';
import { limits } from './definitions.ts';
import { createHistograms, durationBounds, Histogram, overheadBounds } from './histogram.ts';
import { Count, createCounts } from './series.ts';

type RequestEvents = Pick<Events, 'requestFinished' | 'connectionRefused'>;

/** Metrics of all requests. The upstream metrics add to `refusals` the operations that a budget refused. */
export function createRequestMetrics() {
  const durations = createHistograms(
    ['http_request_method', 'http_route', 'http_response_status_code'],
    durationBounds,
    200,
  );
  const overhead = new Histogram(overheadBounds);
  const requests = createCounts(['graphql_operation_type', 'graphql_operation_name'], [['query', 'other']], 500);
  const errors = createCounts(['code']);
  const refusals = createCounts(
    ['limit'],
    limits.map((limit) => [limit]),
  );
  const lookUps = createCounts(['result'], [['hit'], ['stale'], ['miss']]);
  const [hits, stale, misses] = [lookUps.of('hit'), lookUps.of('stale'), lookUps.of('miss')];
  const keptReplies = new Count();
  const savedByCache = new Count();
  const savedByReply = new Count();

  const events: RequestEvents = {
    requestFinished(request) {
      durations.series
        .of(methodLabel(request.method), request.route, request.status)
        .observe(request.durationMs / 1_000);
      if (request.errorCodes.length > 0) countErrors(request);
      if (request.reply !== null) countReply(request, request.reply);
    },
    connectionRefused() {
      refusals.of('connections').value += 1;
    },
  };
  return { events, refusals, savedByCache, savedByReply, collectors: createCollectors() };

  function countReply(
    request: FinishedRequest,
    { operationType, operationName, isTrusted, usage, isKept }: FinishedReply,
  ) {
    overhead.observe(request.overheadMs / 1_000);
    requests.of(operationType ?? 'none', (isTrusted && operationName) || 'other').value += 1;
    if (isKept) keptReplies.value += 1;
    if (usage === null) return;
    const fresh = Math.max(0, usage.cacheHits - usage.staleHits);
    hits.value += fresh;
    stale.value += usage.staleHits;
    misses.value += usage.lookUps - Math.max(usage.cacheHits, usage.staleHits);
    (isKept ? savedByReply : savedByCache).value += fresh;
  }

  function countErrors({ errorCodes, status, reply }: FinishedRequest): void {
    for (const code of errorCodes) {
      errors.of(code).value += 1;
      const limit = limitOfCode[code];
      if (limit !== undefined) refusals.of(limit).value += 1;
    }
    if (status === 413) refusals.of('body_size').value += 1;
    if (reply?.refusal) refusals.of(reply.refusal).value += 1;
  }

  function createCollectors() {
    return {
      http_server_request_duration_seconds: durations.collect,
      ledgerquill_request_overhead_seconds: () => overhead.collect(),
      ledgerquill_graphql_requests_total: requests.collect,
      ledgerquill_graphql_errors_total: errors.collect,
      ledgerquill_refusals_total: refusals.collect,
      ledgerquill_cache_look_ups_total: lookUps.collect,
      ledgerquill_kept_replies_total: () => [keptReplies],
    };
  }
}

const limitOfCode: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'rate_limit',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'forbidden',
  QUERY_NOT_IN_SAFELIST: 'untrusted_document',
  OVERLOADED: 'overloaded',
};
