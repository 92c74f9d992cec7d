import type { ServiceName } from '../errors.ts';
import type { Log } from './log.ts';

interface UpstreamCall {
  service: ServiceName;
  /** Without query: that may hold an IBAN. */
  path: string;
  outcome: { kind: 'answered'; status: number } | { kind: 'failed'; reason: string } | { kind: 'shed' | 'exhausted' };
  durationMs: number;
}

/** What is worth telling an operator, one deed per event. None of them throws, and none is handed personal data. */
export interface Events {
  upstreamCalled(call: UpstreamCall): void;
  credentialsRejected(service: ServiceName): void;
  responseUnreadable(service: ServiceName, status: number): void;
  requestRejected(service: ServiceName, status: number): void;
  circuitOpened(service: ServiceName, path: string): void;
  circuitClosed(service: ServiceName, path: string): void;
  storeDown(reason: string): void;
  storeUp(): void;
  allowanceNearlyExhausted(service: ServiceName, percent: number): void;
  allowanceNotStored(service: ServiceName, reason: string): void;
  essayWriteBuffered(reason: string): void;
  essayRejectedWithoutStore(): void;
  essayLost(reason: string): void;
  unexpectedError(error: unknown, requestId: string): void;
}

export function createEvents(log: Log): Events {
  const toldAt = new Map<string, number>();
  /** What goes on is told once a minute: a broken upstream must not fill the disk with its failures. */
  const isNews = (what: string) => {
    const now = Date.now();
    if (now - (toldAt.get(what) ?? Number.NEGATIVE_INFINITY) < 60_000) return false;
    toldAt.set(what, now);
    return true;
  };
  return {
    upstreamCalled({ service, path, outcome, durationMs }) {
      const came =
        outcome.kind === 'answered'
          ? { status: outcome.status }
          : { failure: outcome.kind === 'failed' ? outcome.reason : outcome.kind };
      const fields = { service, path, ...came, durationMs: Math.round(durationMs) };
      log.debug(fields, 'upstream called');
      const isTrouble = outcome.kind !== 'answered' || outcome.status >= 500 || outcome.status === 404;
      if (isTrouble && isNews(`${service} ${path} ${Object.values(came)}`))
        log.warn(fields, 'the upstream does not answer as it should');
    },
    credentialsRejected(service) {
      if (!isNews(`${service} credentials`)) return;
      log.error({ service }, 'the upstream rejects our key: check the API key in the configuration');
    },
    responseUnreadable(service, status) {
      if (!isNews(`${service} unreadable`)) return;
      log.warn({ service, status }, 'the upstream answered something unreadable');
    },
    requestRejected(service, status) {
      if (!isNews(`${service} refused ${status}`)) return;
      log.error({ service, status }, 'the upstream refused a request as wrong: a fault of the gateway');
    },
    circuitOpened(service, path) {
      log.warn({ service, path }, 'the upstream keeps failing: it is not called but for a probe now and then');
    },
    circuitClosed(service, path) {
      log.info({ service, path }, 'the upstream answers again');
    },
    storeDown(reason) {
      log.error({ reason }, 'the shared store is gone: the gateway goes on with what it has itself');
    },
    storeUp() {
      log.info('the shared store answers');
    },
    allowanceNearlyExhausted(service, percent) {
      log.warn({ service, percent }, "the month's allowance is nearly used up");
    },
    allowanceNotStored(service, reason) {
      log.error({ service, reason }, 'the store fails: calls are counted in memory until it works again');
    },
    essayWriteBuffered(reason) {
      log.error({ reason }, 'the store fails: essays are answered, and held in memory until they can be stored');
    },
    essayRejectedWithoutStore() {
      if (!isNews('essay refused')) return;
      log.error('the store fails: an essay with an idempotency key was refused, as it might be paid for twice');
    },
    essayLost(reason) {
      log.error({ reason }, 'an essay that was paid for could not be buffered any longer and is lost');
    },
    unexpectedError(error, requestId) {
      log.error({ requestId, err: error instanceof Error ? error : new Error(String(error)) }, 'unexpected error');
    },
  };
}
