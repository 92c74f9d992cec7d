import type { StoreRisk } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type Events, type FinishedRequest, findFault, ignore } from './events.ts';

/** Writes events to the log. Events that each call can cause are logged once a minute: a broken upstream must not fill the disk. */
export function createLogEvents(log: Log): Events {
  const warnOfCall = onceAMinute(1, (_: string, fields: object) => log.warn(fields, 'upstream call failed'));

  return {
    requestFinished: ignore,
    connectionRefused: ignore,
    orderCallBegins: ignore,
    auditFailed: (reason) =>
      log.error({ reason }, 'the audit trail cannot be written: its lines are kept in memory, and calls continue'),
    auditRecovered: (lost) => log.info({ lost }, 'the audit trail is written again'),
    upstreamOperationEnded: ignore,
    flightJoined: ignore,
    essayOrdered: ignore,
    essayOrderEnded: (order) =>
      order.code === undefined ? log.info(order, 'an order ended') : log.warn(order, 'an order failed'),
    essayOrdersAdopted: (count) => log.info({ count }, 'orders that another process had begun are continued'),
    essayOrderUnreadable: onceAMinute(0, () =>
      log.error('a stored order was left out: its record or entry is damaged or of a later version'),
    ),
    callEnded({ service, path, origin: { requestId } }, { outcome, durationMs }) {
      if (outcome === null) return;
      const isFailure =
        outcome.kind === 'failed' || outcome.status >= 500 || outcome.status === 404 || outcome.fault !== null;
      // Most calls are not logged, and then cost nothing.
      if (!isFailure && !log.isLevelEnabled('debug')) return;
      const result =
        outcome.kind === 'answered'
          ? { status: outcome.status, ...(outcome.fault && { failure: outcome.fault }) }
          : { failure: outcome.reason, ...(outcome.code && { code: outcome.code }) };
      const fields = { service, path, ...result, durationMs: Math.round(durationMs), ...(requestId && { requestId }) };
      log.debug(fields, 'upstream called');
      if (isFailure) warnOfCall(`${service} ${path} ${Object.values(result)}`, fields);
    },
    credentialsRejected: onceAMinute(1, (service) =>
      log.error({ service }, 'the upstream rejected the API key: check it in the configuration'),
    ),
    callRefused: onceAMinute(1, (service) =>
      log.warn({ service }, 'the upstream refuses calls: its allowance is exhausted or there are too many calls'),
    ),
    responseUnreadable: onceAMinute(1, (service, status) =>
      log.warn({ service, status }, 'the upstream response could not be parsed'),
    ),
    requestRejected: onceAMinute(2, (service, status) =>
      log.error({ service, status }, 'the upstream rejected a request as invalid: this is a bug in the gateway'),
    ),
    circuitChanged(service, path, state, outage) {
      const fields = { service, path };
      // A probe that fails is logged as a failed call.
      if (state === 'open' && outage?.probes === 0)
        log.warn({ ...fields, cause: outage.cause }, 'circuit breaker opened: only probes are sent until one succeeds');
      if (state === 'closed') log.info(fields, 'circuit breaker closed: the upstream works again');
    },
    storeFailed: ignore,
    storeDown: (failure, reason) =>
      log.error({ failure, reason }, 'the store is down: the gateway continues without it'),
    storeUp: () => log.info('the store is up'),
    storeRisksChanged(risks) {
      for (const risk of risks) log.warn({ risk }, `the store is not safe: ${textsOfRisks[risk]}`);
      if (risks.length === 0) log.info('the store is safe');
    },
    allowanceNearlyExhausted: (service, percent) =>
      log.warn({ service, percent }, `the monthly allowance is ${percent < 100 ? 'nearly ' : ''}exhausted`),
    allowanceNotStored: (service, reason) =>
      log.error({ service, reason }, 'the store failed: calls are counted in memory until it works again'),
    allowanceCorrected: (service, from, to) =>
      log.warn({ service, from, to }, 'the count of the calls of this month was corrected'),
    // There may be a budget for each of thousands of callers.
    countRestored: onceAMinute(1, (service, calls) =>
      log.error(
        { service, calls },
        'the stored count of calls went backwards: the store has lost data; the calls that this gateway knew were added back',
      ),
    ),
    essayWriteBuffered: (reason) =>
      log.error({ reason }, 'the store failed: essays are buffered in memory until it works again'),
    essayRejectedWithoutStore: onceAMinute(0, () =>
      log.error('the store failed: an essay order with an idempotency key was rejected, as it might be paid for twice'),
    ),
    essayLost: (reason) => log.error({ reason }, 'an essay that was paid for could not be stored and is lost'),
    clockStepped: (seconds) =>
      log.error(
        { seconds },
        'the clock was set, or the machine was suspended: check the month of counts, and what has expired',
      ),
    notExported: onceAMinute(1, (what, reason) =>
      log.warn({ reason }, `${what} were not exported: the collector is slow, cannot be reached or rejected them`),
    ),
    unexpectedError: (error, origin) =>
      log.error({ ...origin, err: error instanceof Error ? error : new Error(String(error)) }, 'unexpected error'),
    // Not once per origin: clients choose it.
    preflightRefused: onceAMinute(0, (origin) =>
      log.warn({ origin }, 'a page may not call the gateway: to allow it, add its origin to CORS_ORIGINS'),
    ),
    fileReloaded: (variable, count) => log.info({ variable, count }, 'a configured file was read again'),
    fileInvalid: (variable, reason) =>
      log.error({ variable, reason }, 'a configured file is invalid: its last valid content remains in use'),
    callersBlocked: (names) => log.warn({ callers: names }, 'the callers whose tokens are blocked were changed'),
    lookUpsPurged: (kind) => log.warn({ kind }, 'cached look-ups were purged by the operator'),
    keySetUnavailable: onceAMinute(0, (reason) =>
      log.error(
        { reason },
        'the key set of the token issuer cannot be used: the last keys, if there are any, remain in use',
      ),
    ),
    rateLimitNotShared: onceAMinute(0, (reason) =>
      log.error({ reason }, 'Redis failed: each replica counts its share of the requests per minute'),
    ),
    budgetsNotStored: (reason) =>
      log.error({ reason }, 'the store failed: paid calls of callers are counted in memory until it works again'),
    untrustedDocument: onceAMinute(0, () => log.warn('a document that is not trusted was executed')),
    toolInvalid: (reason) => log.error({ reason }, 'a trusted document with @tool is not offered to agents'),
  };
}

/** What is wrong, and what to do. */
export const textsOfRisks: Readonly<Record<StoreRisk, string>> = {
  eviction: 'by its maxmemory-policy, Redis may delete paid essays and counts; set it to noeviction',
  no_aof: 'appendonly is no, so a restart of Redis loses paid essays and counts; set it to yes',
};

/** Calls the function at most once a minute for each combination of its first `keyLength` values. */
function onceAMinute<Values extends unknown[]>(keyLength: number, write: (...values: Values) => void) {
  const writtenAt = new Map<string, number>();
  return (...values: Values): void => {
    const key = values.slice(0, keyLength).join(' ');
    const now = Date.now();
    if (now - (writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return;
    writtenAt.set(key, now);
    write(...values);
  };
}

const repeatAfterMs = 60_000;

/**
 * Logs one line per request, except health checks. At most `perSecond` lines of failed requests and as many of others are
 * written in a second; further ones are counted, and their number is logged. 0: no lines.
 */
export function createRequestLog(log: Log, perSecond: number) {
  if (perSecond === 0 || !log.isLevelEnabled('info')) return { requestFinished: ignore, droppedLines: () => 0 };
  let windowEnd = 0;
  let failed = 0;
  let others = 0;
  let dropped = 0;
  let reported = 0;

  return {
    requestFinished(request: FinishedRequest): void {
      if (request.route === '/health' || request.route === '/ready') return;
      if (request.endedAt >= windowEnd) {
        windowEnd = request.endedAt + windowMs;
        failed = 0;
        others = 0;
      }
      const { status, errorCodes } = request;
      const isFailure = status >= 500 || (errorCodes.length > 0 && findFault(errorCodes) !== undefined);
      const count = isFailure ? ++failed : ++others;
      if (count <= perSecond) {
        log.info(describe(request), 'request');
        return;
      }
      dropped += 1;
      if (dropped - reported === 1) setTimeout(summarize, summaryAfterMs).unref();
    },
    /** Lines that were not written. */
    droppedLines: () => dropped,
  };

  function summarize(): void {
    log.info({ dropped: dropped - reported, perSecond }, 'requests were not logged: there were too many');
    reported = dropped;
  }
}

const windowMs = 1_000;
const summaryAfterMs = 10_000;

/** Undefined values are not written. */
function describe(request: FinishedRequest): object {
  const { method, route, status, requestId, traceId, callerName, clientName, clientVersion, errorCodes } = request;
  const { operationType, operationName, documentId, outcomes = [], usage, isKept } = request.reply ?? {};
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
    outcomes: outcomes.length > 0 ? outcomes : undefined,
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

/** Rounds to microseconds. */
function round(durationMs: number): number {
  return Math.round(durationMs * 1_000) / 1_000;
}
