import type { ServiceName } from '../errors.ts';
import type { Log } from './log.ts';

interface UpstreamCall {
  service: ServiceName;
  /** Without query: that may hold an IBAN. */
  path: string;
  outcome: { kind: 'answer'; status: number } | { kind: 'failure'; reason: string };
  durationMs: number;
}

/** What is worth telling an operator, one deed per event. None of them throws, and none is handed personal data. */
export interface Events {
  upstreamCalled(call: UpstreamCall): void;
  credentialsRejected(service: ServiceName): void;
  answerUnreadable(service: ServiceName, status: number): void;
  requestRefused(service: ServiceName, status: number): void;
  breakerOpened(service: ServiceName, path: string): void;
  breakerClosed(service: ServiceName, path: string): void;
  storeDown(reason: string): void;
  storeUp(): void;
  unexpectedError(error: unknown, requestId: string): void;
}

export function createEvents(log: Log): Events {
  return {
    upstreamCalled({ service, path, outcome, durationMs }) {
      const came = outcome.kind === 'answer' ? { status: outcome.status } : { failure: outcome.reason };
      log.debug({ service, path, ...came, durationMs: Math.round(durationMs) }, 'upstream called');
    },
    credentialsRejected(service) {
      log.error({ service }, 'the upstream rejects our key: check the API key in the configuration');
    },
    answerUnreadable(service, status) {
      log.warn({ service, status }, 'the upstream answered something unreadable');
    },
    requestRefused(service, status) {
      log.error({ service, status }, 'the upstream refused a request as wrong: a fault of the gateway');
    },
    breakerOpened(service, path) {
      log.warn({ service, path }, 'the upstream keeps failing: it is not called but for a probe now and then');
    },
    breakerClosed(service, path) {
      log.info({ service, path }, 'the upstream answers again');
    },
    storeDown(reason) {
      log.error({ reason }, 'the shared store is gone: the gateway goes on with what it has itself');
    },
    storeUp() {
      log.info('the shared store answers');
    },
    unexpectedError(error, requestId) {
      log.error({ requestId, err: error instanceof Error ? error : new Error(String(error)) }, 'unexpected error');
    },
  };
}
