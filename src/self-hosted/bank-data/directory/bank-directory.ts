import { type BankImport, createImportReader } from '../../../bank-lists/imported-lists.ts';
import type { BankEntry, ListedBank } from '../../../bank-lists/listed-bank.ts';
import { createShippedBanks } from '../../../bank-lists/shipped-banks.ts';
import { type CountryIndex, createCountryIndex, fullBic } from './country-index.ts';

interface BankListRequest {
  /** Absent for all countries. */
  country?: string | undefined;
  /** Words of the name, in any case and without accents, or the start of a bank code or BIC. */
  search?: string;
  offset?: number;
  first?: number;
}

export interface BankDirectory {
  /**
   * The bank with this bank code in an IBAN of this country; null if it is not listed. Territories have no list, and do
   * not use the list of their parent: a wrong bank is worse than none.
   */
  findBank(country: string, bankCode: string): ListedBank | null;
  /**
   * The bank with this BIC, in capitals; without a branch, the head office. For an unlisted branch it returns the head
   * office, but for an unlisted head office never a branch: hundreds of independent banks share the first eight
   * characters of a BIC.
   */
  findBankByBic(bic: string): ListedBank | null;
  /** A page of the banks, sorted by country code and bank code, and their total number. */
  listBanks(request?: BankListRequest): { banks: readonly ListedBank[]; total: number };
  /** Changes whenever an answer may: after an import, and with the lists in npm packages. */
  version(): string;
  close(): Promise<void>;
}

interface BankDirectoryOptions {
  /** Folder with imported directories; without it, only the lists in npm packages are used. */
  dataDir?: string;
}

/**
 * One index of the lists in npm packages and the imported ones. A country is read on first use, and again after an
 * import by any process, which is checked once per turn of the event loop.
 */
export function createBankDirectory({ dataDir }: BankDirectoryOptions = {}): BankDirectory {
  const shipped = createShippedBanks();
  const reader = dataDir === undefined ? null : createImportReader(dataDir);
  const indexes = new Map<string, { edition: string; index: CountryIndex }>();
  let isFresh = false;

  function refresh(): void {
    if (reader === null || isFresh) return;
    reader.refresh();
    isFresh = true;
    setImmediate(() => {
      isFresh = false;
    }).unref();
  }

  function codes(): string[] {
    refresh();
    return [...new Set([...shipped.countries, ...(reader?.imports().keys() ?? [])])].sort();
  }

  function indexOf(country: string): CountryIndex {
    refresh();
    const imported = reader?.imports().get(country);
    const edition = `${shipped.edition(country)}/${imported?.revision ?? ''}`;
    const known = indexes.get(country);
    if (known?.edition === edition) return known.index;
    const banks = shipped.banks(country);
    const entries = imported && reader ? reader.entries(country) : [];
    const index = createCountryIndex(country, imported ? completeImport(country, imported, entries, banks) : banks);
    // Requests for countries that do not exist must not use memory.
    if (index.banks.length > 0) indexes.set(country, { edition, index });
    return index;
  }

  return {
    findBank: (country, bankCode) => indexOf(country).findByCode(bankCode),
    findBankByBic(bic) {
      // A bank may have a BIC of another country, so all lists are searched, first the list of the country in the BIC.
      const home = bic.slice(4, 6);
      const order = codes().sort((a, b) => Number(b === home) - Number(a === home));
      const find = (full: string) =>
        order.reduce<ListedBank | null>((bank, code) => bank ?? indexOf(code).findByBic(full), null);
      return find(fullBic(bic)) ?? find(fullBic(bic.slice(0, 8)));
    },
    listBanks({ country, search = '', offset = 0, first = 100 } = {}) {
      const banks = (country === undefined ? codes() : [country]).flatMap((code) => indexOf(code).search(search));
      return { banks: banks.slice(offset, offset + first), total: banks.length };
    },
    version() {
      refresh();
      return `${shipped.version()}/${reader?.revision() ?? 0}`;
    },
    close: async () => reader?.close(),
  };
}

/**
 * An import replaces the whole list of its country, as the national bank may have deleted bank codes. Empty names and
 * BICs are filled from the shipped list, which is then added to the source.
 */
function completeImport(
  country: string,
  { source, date }: BankImport,
  entries: readonly BankEntry[],
  shipped: readonly ListedBank[],
): ListedBank[] {
  const known = new Map(shipped.map((bank) => [bank.bankCode, bank]));
  return entries.map((entry) => {
    const bank = { ...entry, country, source, date };
    const before = known.get(bank.bankCode);
    const filled = (['name', 'bic'] as const).filter((field) => bank[field] === '' && before?.[field]);
    if (before === undefined || filled.length === 0) return bank;
    for (const field of filled) bank[field] = before[field];
    return { ...bank, source: `${source}; ${filled.join(' and ')} from ${before.source} (${before.date})` };
  });
}
