import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import type { BankDataPort } from '../bank-data.ts';
import type { DataVersion } from '../data-version.ts';
import { requestBankPage } from './bank-list.ts';
import { requestBicValidation } from './bic-validation.ts';
import { createCallEndpoint, type EndpointEvents } from './endpoint-call.ts';
import { requestIbanGeneration, requestIbanValidation } from './iban-validation.ts';
import { createPageCallLimit } from './page-calls.ts';

/** The bank-data service over REST. It has no batches: one call per IBAN or BIC. */
export function createRestBankData(
  client: UpstreamClient,
  events: EndpointEvents,
  dataVersion: Pick<DataVersion, 'report'>,
): BankDataPort {
  const callEndpoint = createCallEndpoint(client, events, dataVersion);
  const countPageCall = createPageCallLimit();
  return {
    validateIban: (iban, context) => requestIbanValidation(callEndpoint, iban, context),
    validateBic: (bic, context) => requestBicValidation(callEndpoint, bic, context),
    generateIban: (values, context) => requestIbanGeneration(callEndpoint, values, context),
    listBanks: (listing, context) => requestBankPage(callEndpoint, listing, context, countPageCall),
  };
}
