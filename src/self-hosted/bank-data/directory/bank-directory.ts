import type { BankEntry, ListedBank } from '../../../bank-lists/listed-bank.ts';
import { createShippedBanks } from '../../../bank-lists/shipped-banks.ts';
import { type CountryIndex, createCountryIndex } from './country-index.ts';
import { fullBic } from './head-office.ts';
import { createImportReader } from './import-reader.ts';
import type { BankImport } from './import-store.ts';

export interface BankListRequest {
  /** Absent: every country. */
  country?: string;
  /** Words of the name, in any case and without accents, or the beginning of a bank code or BIC. */
  search?: string;
  offset?: number;
  first?: number;
}

export interface BankDirectory {
  /**
   * The bank of a bank code as it stands in an IBAN with this country code; null where it is not listed. A territory
   * has no list, not even its parent's: a wrong bank is worse than none.
   */
  findBank(country: string, bankCode: string): ListedBank | null;
  /**
   * The bank of a BIC, in capitals. Without a branch it means the head office. A branch that is not listed is
   * answered with the head office; a head office that is not listed never with a branch, as hundreds of independent
   * banks share the first eight characters of a BIC.
   */
  findBankByBic(bic: string): ListedBank | null;
  /** A page of the banks by country code and bank code, and how many there are in all. */
  listBanks(request?: BankListRequest): { banks: readonly ListedBank[]; total: number };
  /** The countries that have a list, by country code, and how many banks are on it. */
  countries(): readonly { country: string; banks: number }[];
  close(): Promise<void>;
}

interface BankDirectoryOptions {
  /** Folder with imported directories; absent: only what npm packages carry. */
  dataDir?: string;
  now?: () => Date;
}

/**
 * One index over the lists in npm packages and the imported ones. A country is read when it is first asked for, and
 * again when its list was imported meanwhile, by whatever process: that is looked up once per turn of the event loop.
 */
export function createBankDirectory({ dataDir, now = () => new Date() }: BankDirectoryOptions = {}): BankDirectory {
  const shipped = createShippedBanks(now);
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
    // Whoever asks for a country that does not exist leaves nothing behind.
    if (index.banks.length > 0) indexes.set(country, { edition, index });
    return index;
  }

  return {
    findBank: (country, bankCode) => indexOf(country).findByCode(bankCode),
    findBankByBic(bic) {
      // A bank abroad may have a BIC of its home country, so all are asked, the country of the BIC first.
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
    countries: () => codes().map((country) => ({ country, banks: indexOf(country).banks.length })),
    close: async () => reader?.close(),
  };
}

/**
 * An import is the whole list of its country: a bank code that is not in it is gone, as the national bank has deleted
 * it. Where it leaves name or BIC empty, what was known of this bank code before stands in, and the source says so.
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
