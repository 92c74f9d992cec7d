import { type Events, ignore } from './events.ts';
import type { Log } from './log.ts';

/** Writes events to the log. Repeated events are logged once a minute, so that a broken upstream cannot fill the disk. */
export function createLogEvents(log: Log): Events {
  const loggedAt = new Map<string, number>();
  const isDue = (key: string) => {
    const now = Date.now();
    if (now - (loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return false;
    loggedAt.set(key, now);
    return true;
  };
  return {
    requestFinished: ignore,
    connectionRefused: ignore,
    callPaid: ignore,
    upstreamOperationEnded: ignore,
    flightJoined: ignore,
    essayOrdered: ignore,
    circuitHalfOpened: ignore,
    upstreamCalled({ service, path, outcome, durationMs }) {
      const isFailure = outcome.kind === 'failed' || outcome.status >= 500 || outcome.status === 404;
      // Most calls are not logged, and then cost nothing.
      if (!isFailure && !log.isLevelEnabled('debug')) return;
      const result = outcome.kind === 'answered' ? { status: outcome.status } : { failure: outcome.reason };
      const fields = { service, path, ...result, durationMs: Math.round(durationMs) };
      log.debug(fields, 'upstream called');
      if (isFailure && isDue(`${service} ${path} ${Object.values(result)}`)) log.warn(fields, 'upstream call failed');
    },
    credentialsRejected(service) {
      if (!isDue(`${service} credentials`)) return;
      log.error({ service }, 'the upstream rejected the API key: check it in the configuration');
    },
    responseUnreadable(service, status) {
      if (!isDue(`${service} unreadable`)) return;
      log.warn({ service, status }, 'the upstream response could not be parsed');
    },
    requestRejected(service, status) {
      if (!isDue(`${service} rejected ${status}`)) return;
      log.error({ service, status }, 'the upstream rejected a request as invalid: this is a bug in the gateway');
    },
    circuitOpened(service, path) {
      log.warn({ service, path }, 'circuit breaker opened: the upstream keeps failing, only probes are sent');
    },
    circuitClosed(service, path) {
      log.info({ service, path }, 'circuit breaker closed: the upstream works again');
    },
    storeDown(reason) {
      log.error({ reason }, 'the shared store is down: the gateway continues without it');
    },
    storeUp() {
      log.info('the shared store is up');
    },
    allowanceNearlyExhausted(service, percent) {
      log.warn({ service, percent }, 'the monthly allowance is nearly exhausted');
    },
    allowanceNotStored(service, reason) {
      log.error({ service, reason }, 'the store failed: calls are counted in memory until it works again');
    },
    essayWriteBuffered(reason) {
      log.error({ reason }, 'the store failed: essays are buffered in memory until it works again');
    },
    essayRejectedWithoutStore() {
      if (!isDue('essay rejected')) return;
      log.error('the store failed: an essay order with an idempotency key was rejected, as it might be paid for twice');
    },
    essayLost(reason) {
      log.error({ reason }, 'an essay that was paid for could not be stored and is lost');
    },
    tracesNotExported(reason) {
      if (!isDue('traces')) return;
      log.warn({ reason }, 'spans were not exported: the collector cannot be reached or rejected them');
    },
    unexpectedError(error, requestId) {
      log.error({ requestId, err: error instanceof Error ? error : new Error(String(error)) }, 'unexpected error');
    },
    apiKeysReloaded(count) {
      log.info({ count }, 'the file with API keys was read again');
    },
    apiKeysFileInvalid(reason) {
      log.error({ reason }, 'the file with API keys is invalid: the last valid keys remain in use');
    },
    keySetUnavailable(reason) {
      if (!isDue('key set')) return;
      log.error({ reason }, 'the key set of the token issuer cannot be read: the last keys remain in use');
    },
    rateLimitNotShared(reason) {
      if (!isDue('rate limit')) return;
      log.error({ reason }, 'Redis failed: each replica counts its share of the requests per minute');
    },
    budgetsNotStored(reason) {
      log.error({ reason }, 'the store failed: paid calls of callers are counted in memory until it works again');
    },
    trustedDocumentsReloaded(count) {
      log.info({ count }, 'the trusted documents were read again');
    },
    untrustedDocument() {
      if (isDue('untrusted document')) log.warn('a document that is not trusted was executed');
    },
    trustedDocumentsInvalid(reason) {
      log.error({ reason }, 'the trusted documents are invalid: the last valid ones remain in use');
    },
  };
}

const repeatAfterMs = 60_000;
