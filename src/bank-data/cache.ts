import type { BankDataPort } from './bank-data.ts';
import type { AnswerCache } from './look-up-cache.ts';
import { settleEach } from './settle-each.ts';

/**
 * Remembers what was paid for. Every question is looked up on its own, so that one that many requests ask at the same
 * time, in whatever company, is asked upstream once.
 */
export function withCache(bankData: BankDataPort, cache: AnswerCache): BankDataPort {
  return {
    validateIbans: (ibans, caller) =>
      settleEach(ibans, caller, (iban) =>
        cache.find(
          `iban:${iban}`,
          caller,
          async (flight) => only(await bankData.validateIbans([iban], flight)),
          isInvalid,
        ),
      ),
    validateBics: (bics, caller) =>
      settleEach(bics, caller, (bic) =>
        cache.find(`bic:${bic}`, caller, async (flight) => only(await bankData.validateBics([bic], flight)), isInvalid),
      ),
    generateIban: (source, caller) =>
      cache.find(
        `generation:${JSON.stringify([source.country, source.bankCode, source.branch, source.accountNumber])}`,
        caller,
        (flight) => bankData.generateIban(source, flight),
        ({ kind }) => kind === 'invalid',
      ),
    listBanks: (listing, caller) =>
      cache.find(
        `banks:${JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])}`,
        caller,
        (flight) => bankData.listBanks(listing, flight),
        ({ banks }) => banks.length === 0,
      ),
  };
}

/** Failures are never kept, so that they are thrown to the cache. */
function only<Answer>([answer]: readonly (Answer | Error)[]): Answer {
  if (answer === undefined) throw new Error('a look-up was not answered');
  if (answer instanceof Error) throw answer;
  return answer;
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}
