import type { RequestContext } from '../../request-context.ts';
import type { Events } from '../../telemetry/events.ts';
import type { RestClient } from '../../upstream/upstream-client.ts';
import type { BankDataPort } from '../bank-data.ts';
import { settleEach } from '../settle-each.ts';
import { listBanks } from './bank-list.ts';
import { requestBicValidation } from './bic-validation.ts';
import { createAsk } from './endpoint-call.ts';
import { requestIbanGeneration, requestIbanValidation } from './iban-validation.ts';

/** Asks the bank-data service over REST, one call per IBAN or BIC: the service knows no batches. */
export function createRestBankData(client: RestClient, events: Events): BankDataPort {
  const askFor = (caller: RequestContext) => createAsk(client, events, caller);
  return {
    validateIbans: (ibans, caller) => settleEach(ibans, caller, (iban) => requestIbanValidation(askFor(caller), iban)),
    validateBics: (bics, caller) => settleEach(bics, caller, (bic) => requestBicValidation(askFor(caller), bic)),
    generateIban: (source, caller) => requestIbanGeneration(askFor(caller), source),
    listBanks: (listing, caller) => listBanks(askFor(caller), listing),
  };
}
