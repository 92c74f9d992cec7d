import { setMaxListeners } from 'node:events';
import type { RestClient } from '../rest/rest-client.ts';
import type { Events } from '../telemetry/events.ts';
import { createAsk } from './ask.ts';
import type { BankDataPort } from './bank-data.ts';
import { listBanks } from './rest-bank-list.ts';
import { validateBic } from './rest-bics.ts';
import { generateIban, validateIban } from './rest-ibans.ts';

/** Asks the bank-data service over REST, one call per IBAN or BIC: the service knows no batches. */
export function createRestBankData(client: RestClient, events: Events): BankDataPort {
  const askUntil = (signal: AbortSignal) => createAsk(client, events, signal);
  return {
    validateIbans: (ibans, signal) => settleAll(ibans, signal, (iban) => validateIban(askUntil(signal), iban)),
    validateBics: (bics, signal) => settleAll(bics, signal, (bic) => validateBic(askUntil(signal), bic)),
    generateIban: (source, signal) => generateIban(askUntil(signal), source),
    listBanks: (listing, signal) => listBanks(askUntil(signal), listing),
  };
}

/** A failed look-up is an error in its place; only a caller who gave up ends the whole batch. */
function settleAll<Key, Answer>(
  keys: readonly Key[],
  signal: AbortSignal,
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
