import type { BankDataPort } from './bank-data.ts';
import type { LookUpCache } from './look-up-cache.ts';

/** Caches each look-up by its key, so that simultaneous requests for one IBAN share one upstream call. */
export function withCache(source: BankDataPort, cache: LookUpCache): BankDataPort {
  return {
    validateIban: (iban, context) =>
      cache.find(`iban:${iban}`, context, (flightContext) => source.validateIban(iban, flightContext), isInvalid),
    validateBic: (bic, context) =>
      cache.find(`bic:${bic}`, context, (flightContext) => source.validateBic(bic, flightContext), isInvalid),
    generateIban: (values, context) =>
      cache.find(
        `generation:${JSON.stringify([values.country, values.bankCode, values.branch, values.accountNumber])}`,
        context,
        (flightContext) => source.generateIban(values, flightContext),
        ({ kind }) => kind === 'invalid',
      ),
    listBanks: (listing, context) =>
      cache.find(
        `banks:${JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])}`,
        context,
        (flightContext) => source.listBanks(listing, flightContext),
        ({ banks, isCutShort = false }) => banks.length === 0 || isCutShort,
      ),
  };
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}
