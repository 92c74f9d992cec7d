import type { BankDataPort } from './bank-data.ts';
import type { LookUpCache } from './look-up-cache.ts';

/** Caches each look-up by its key, so that simultaneous requests for one IBAN share one upstream call. */
export function withCache(source: BankDataPort, cache: LookUpCache): BankDataPort {
  return {
    validateIban: (iban, context) =>
      cache.find({
        // All other keys contain a colon. This key needs no new string.
        key: iban,
        context,
        lookUp: (flightContext) => source.validateIban(iban, flightContext),
        isNegative: isInvalid,
      }),
    validateBic: (bic, context) =>
      cache.find({
        key: `bic:${bic}`,
        context,
        lookUp: (flightContext) => source.validateBic(bic, flightContext),
        isNegative: isInvalid,
      }),
    generateIban: (values, context) =>
      cache.find({
        key: `generation:${JSON.stringify([values.country, values.bankCode, values.branch, values.accountNumber])}`,
        context,
        lookUp: (flightContext) => source.generateIban(values, flightContext),
        isNegative: ({ kind }) => kind === 'invalid',
      }),
    listBanks: (listing, context) =>
      cache.find({
        key: `banks:${JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])}`,
        context,
        lookUp: (flightContext) => source.listBanks(listing, flightContext),
        isNegative: ({ banks, isCutShort = false }) => banks.length === 0 || isCutShort,
      }),
  };
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}
