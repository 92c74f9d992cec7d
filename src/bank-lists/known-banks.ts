import { createShippedBanks } from './shipped-banks.ts';

export interface KnownBanks {
  /** Whether a shipped list has this bank code of this country: a hint without an upstream call. */
  has(country: string, bankCode: string): boolean;
  /** Reads all lists now, so that no request waits for it; otherwise each is read on first use. */
  load(): void;
}

export function createKnownBanks(): KnownBanks {
  const shipped = createShippedBanks();
  const codesByCountry = new Map<string, ReadonlySet<string>>();

  function codesOf(country: string): ReadonlySet<string> | undefined {
    if (!shipped.countries.includes(country)) return undefined;
    const codes = codesByCountry.get(country) ?? new Set(shipped.banks(country).map(({ bankCode }) => bankCode));
    codesByCountry.set(country, codes);
    return codes;
  }

  return {
    has: (country, bankCode) => codesOf(country)?.has(bankCode) ?? false,
    load: () => shipped.countries.forEach(codesOf),
  };
}
