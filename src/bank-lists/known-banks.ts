import { createShippedBanks } from './shipped-banks.ts';

/**
 * Tells whether a list that comes with npm packages has this bank code of this country: a hint that costs no call. A
 * country's list is read when it is first asked about.
 */
export function createKnownBanks(): (country: string, bankCode: string) => boolean {
  const shipped = createShippedBanks(() => new Date());
  const codesByCountry = new Map<string, ReadonlySet<string>>();
  return (country, bankCode) => {
    const codes = codesByCountry.get(country) ?? new Set(shipped.banks(country).map((bank) => bank.bankCode));
    if (shipped.countries.includes(country)) codesByCountry.set(country, codes);
    return codes.has(bankCode);
  };
}
