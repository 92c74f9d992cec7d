import type { FinishedRequest } from '../../../../src/gateway/telemetry/finished-request.ts';

/** A request that succeeded. */
export const succeeded: FinishedRequest = {
  method: 'POST',
  route: '/graphql',
  status: 200,
  requestId: 'r',
  traceId: null,
  callerName: null,
  clientName: '',
  clientVersion: '',
  endedAt: 1_000,
  durationMs: 1,
  overheadMs: 1,
  reply: null,
  errorCodes: [],
};
