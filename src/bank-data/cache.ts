import type { BankDataPort } from './bank-data.ts';
import type { LookUpCache } from './look-up-cache.ts';

/** Caches every look-up by its key, so that many requests for one IBAN at a time are one upstream call. */
export function withCache(bankData: BankDataPort, cache: LookUpCache): BankDataPort {
  return {
    validateIban: (iban, context) =>
      cache.find(`iban:${iban}`, context, (flight) => bankData.validateIban(iban, flight), isInvalid),
    validateBic: (bic, context) =>
      cache.find(`bic:${bic}`, context, (flight) => bankData.validateBic(bic, flight), isInvalid),
    generateIban: (values, context) =>
      cache.find(
        `generation:${JSON.stringify([values.country, values.bankCode, values.branch, values.accountNumber])}`,
        context,
        (flight) => bankData.generateIban(values, flight),
        ({ kind }) => kind === 'invalid',
      ),
    listBanks: (listing, context) =>
      cache.find(
        `banks:${JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])}`,
        context,
        (flight) => bankData.listBanks(listing, flight),
        ({ banks }) => banks.length === 0,
      ),
  };
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}
