import type { CallOrigin } from '../../../../src/gateway/request-context.ts';
import type { CallInfo, FinishedRequest } from '../../../../src/gateway/telemetry/events.ts';

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

/** A call to the bank-data service, of a caller with an API key. */
export function tPaidCall({
  path = '/bank_data/iban_validate',
  ...fields
}: Partial<CallOrigin & Pick<CallInfo, 'path'>> = {}): CallInfo {
  const origin = { caller: 'api-key:web', requestId: 'r1', orderId: null, operation: 'Payee', documentId: null };
  return { service: 'bank-data', method: 'GET', path, origin: { ...origin, ...fields }, cause: 'new' };
}
