import { createRequire } from 'node:module';
import { bankDataByBLZ } from 'bankdata-germany';

/** A bank as the national directory lists it; a field is empty where the directory does not tell. */
export interface Bank {
  bankCode: string;
  name: string;
  zip: string;
  city: string;
  bic: string;
}

export interface BankDirectory {
  /**
   * The bank of a bank code as it stands in an IBAN with this country code; null where it is not listed. A territory
   * has no list, not even its parent's: a wrong bank is worse than none.
   */
  findBank(country: string, bankCode: string): Bank | null;
}

/**
 * Looks banks up in what npm packages carry: names and BICs for Germany (Bundesbank, quarterly), BICs of 2024 for six
 * other countries. No list has a zip code or a city.
 */
export function createBankDirectory(): BankDirectory {
  const bicsByCountry = new Map(COUNTRIES.map((country) => [country, readBics(country)]));
  return {
    findBank(country, bankCode) {
      const german = country === 'DE' ? bankDataByBLZ(bankCode) : null;
      // The older list still knows German bank codes that were deleted since; accounts may outlive them for a while.
      const bic = german?.bic ?? bicsByCountry.get(country)?.get(bankCode) ?? '';
      if (german === null && bic === '') return null;
      return { bankCode, name: german?.bankName ?? '', zip: '', city: '', bic };
    },
  };
}

const COUNTRIES = ['AT', 'BE', 'DE', 'ES', 'FR', 'LU', 'NL'];

// `require`, because importing JSON warns on Node 20; a data set at a time, because the main entry is an IBAN library.
const require = createRequire(import.meta.url);

/** BICs by bank code. */
function readBics(country: string): ReadonlyMap<string, string> {
  const bics: Readonly<Record<string, string>> = require(`iban-to-bic/datasets/${country.toLowerCase()}.json`);
  return new Map(Object.entries(bics));
}
