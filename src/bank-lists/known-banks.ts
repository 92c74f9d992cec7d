import { createShippedBanks } from './shipped-banks.ts';

export interface KnownBanks {
  /** Whether a shipped list has this bank code of this country: a hint without an upstream call. */
  has(country: string, bankCode: string): boolean;
  /**
   * Reads all lists in a second, one at a time; until then each is read on first use, in at most 10 ms.
   * @returns a function that stops reading
   */
  loadSoon(): () => void;
}

export function createKnownBanks(): KnownBanks {
  const shipped = createShippedBanks();
  const codesByCountry = new Map<string, ReadonlySet<string>>();

  function codesOf(country: string): ReadonlySet<string> | undefined {
    if (!shipped.countries.includes(country)) return undefined;
    const codes = codesByCountry.get(country) ?? shipped.bankCodes(country);
    codesByCountry.set(country, codes);
    return codes;
  }

  return {
    has: (country, bankCode) => codesOf(country)?.has(bankCode) ?? false,
    loadSoon() {
      let isStopped = false;
      const load = (remaining: readonly string[]) => {
        const [country, ...others] = remaining;
        if (country === undefined || isStopped) return;
        codesOf(country);
        setImmediate(load, others).unref();
      };
      const timer = setTimeout(load, loadAfterMs, shipped.countries).unref();
      return () => {
        isStopped = true;
        clearTimeout(timer);
      };
    },
  };
}

/** The first requests after the start come before. */
const loadAfterMs = 1_000;
