import type { BankDataPort } from '../../../src/gateway/bank-data/bank-data.ts';
import { createBankData } from '../../../src/gateway/bank-data/cached-bank-data.ts';
import type { LookUpCache } from '../../../src/gateway/bank-data/look-up-cache.ts';
import type { RestBankData } from '../../../src/gateway/bank-data/rest/rest-bank-data.ts';

/** The port in front of a service, without a cache and without calls. */
export function tBankDataPort(service: RestBankData): BankDataPort {
  const noCalls = { send: () => Promise.reject(new Error('no calls')), end() {} };
  const findAll: LookUpCache['findAll'] = ({ inputs, answerLocally, lookUp }) =>
    inputs.map(async (input) => answerLocally?.(input) ?? lookUp(noCalls, input));
  return createBankData({ findAll }, service);
}
