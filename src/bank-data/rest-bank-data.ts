import { setMaxListeners } from 'node:events';
import { validateIban } from '../iban/iban.ts';
import { findCountryFormat } from '../iban/registry.ts';
import type { RestClient } from '../rest/rest-client.ts';
import { toUpstreamError } from '../rest/upstream-error.ts';
import type { Events } from '../telemetry/events.ts';
import type { BankDataPort, IbanValidation } from './bank-data.ts';
import { readIbanValidation, type WireAnswer } from './wire-iban-validation.ts';

/** Asks the bank-data service over REST, one call per IBAN: the service knows no batches. */
export function createRestBankData(client: RestClient, events: Events): BankDataPort {
  return {
    validateIbans(ibans, signal) {
      // As many calls as there are IBANs listen to the one signal; Node would take more than ten for a leak.
      setMaxListeners(0, signal);
      return Promise.all(ibans.map((iban) => validate(iban, signal).catch((error: Error) => settle(error, signal))));
    },
  };

  async function validate(iban: string, signal: AbortSignal): Promise<IbanValidation> {
    const query = { iban_number: iban };
    const outcome = await client.send({ method: 'GET', path: '/bank_data/iban_validate', query }, signal);
    if (outcome.kind === 'answer') {
      // Whether "not valid" comes as 200 or as 422 is not documented: either way it is data.
      if (outcome.status === 422) return toValidation(iban, rejection);
      const answer = outcome.status === 200 ? readIbanValidation(outcome.json, iban) : null;
      if (answer) return toValidation(iban, answer);
    }
    throw toUpstreamError('bank-data', outcome, events);
  }
}

const rejection: WireAnswer = { valid: false, ibanData: null, bankData: null, countryIbanExample: null };

/** Adds what the service does not tell: why the IBAN is not valid, and how one of its country looks. */
function toValidation(iban: string, answer: WireAnswer): IbanValidation {
  const countryIbanExample = answer.countryIbanExample ?? findCountryFormat(iban.slice(0, 2))?.example ?? null;
  if (answer.valid) return { iban, ...answer, problems: [], countryIbanExample };
  const problems = validateIban(iban);
  return { iban, ...answer, problems: problems.length > 0 ? problems : ['REJECTED_BY_SERVICE'], countryIbanExample };
}

/** A failed look-up is an error in its place; only a caller who gave up ends the whole batch. */
function settle(error: Error, signal: AbortSignal): Error {
  signal.throwIfAborted();
  return error;
}
