import type { CallOrigin } from '../../../../src/gateway/request-context.ts';
import type { CallInfo } from '../../../../src/gateway/telemetry/events.ts';

/** A call to the bank-data service, of a caller with an API key. */
export function tPaidCall({
  path = '/bank_data/iban_validate',
  ...fields
}: Partial<CallOrigin & Pick<CallInfo, 'path'>> = {}): CallInfo {
  const origin = { caller: 'api-key:web', requestId: 'r1', orderId: null, operation: 'Payee', documentId: null };
  return { service: 'bank-data', method: 'GET', path, origin: { ...origin, ...fields }, cause: 'new' };
}
