import { setMaxListeners } from 'node:events';
import type { Caller } from '../caller.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { Events } from '../telemetry/events.ts';
import { createAsk } from './ask.ts';
import type { BankDataPort } from './bank-data.ts';
import { listBanks } from './rest-bank-list.ts';
import { validateBic } from './rest-bics.ts';
import { generateIban, validateIban } from './rest-ibans.ts';

/** Asks the bank-data service over REST, one call per IBAN or BIC: the service knows no batches. */
export function createRestBankData(client: RestClient, events: Events): BankDataPort {
  const askFor = (caller: Caller) => createAsk(client, events, caller);
  return {
    validateIbans: (ibans, caller) => settleAll(ibans, caller, (iban) => validateIban(askFor(caller), iban)),
    validateBics: (bics, caller) => settleAll(bics, caller, (bic) => validateBic(askFor(caller), bic)),
    generateIban: (source, caller) => generateIban(askFor(caller), source),
    listBanks: (listing, caller) => listBanks(askFor(caller), listing),
  };
}

/** A failed look-up is an error in its place; only a caller who gave up ends the whole batch. */
function settleAll<Key, Answer>(
  keys: readonly Key[],
  { signal }: Caller,
  lookUp: (key: Key) => Promise<Answer>,
): Promise<(Answer | Error)[]> {
  // As many calls as there are keys listen to the one signal; Node would take more than ten for a leak.
  setMaxListeners(0, signal);
  const settle = (error: Error) => {
    signal.throwIfAborted();
    return error;
  };
  return Promise.all(keys.map((key) => lookUp(key).catch(settle)));
}
