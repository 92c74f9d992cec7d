import type { Caller } from '../caller.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { Events } from '../telemetry/events.ts';
import { createAsk } from './ask.ts';
import type { BankDataPort } from './bank-data.ts';
import { listBanks } from './rest-bank-list.ts';
import { validateBic } from './rest-bics.ts';
import { generateIban, validateIban } from './rest-ibans.ts';
import { settleEach } from './settle-each.ts';

/** Asks the bank-data service over REST, one call per IBAN or BIC: the service knows no batches. */
export function createRestBankData(client: RestClient, events: Events): BankDataPort {
  const askFor = (caller: Caller) => createAsk(client, events, caller);
  return {
    validateIbans: (ibans, caller) => settleEach(ibans, caller, (iban) => validateIban(askFor(caller), iban)),
    validateBics: (bics, caller) => settleEach(bics, caller, (bic) => validateBic(askFor(caller), bic)),
    generateIban: (source, caller) => generateIban(askFor(caller), source),
    listBanks: (listing, caller) => listBanks(askFor(caller), listing),
  };
}
