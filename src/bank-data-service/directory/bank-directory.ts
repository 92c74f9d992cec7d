import { type BankListsOptions, createBankLists, keepByEdition } from '../../banks/bank-lists.ts';
import type { ListedBank } from '../../banks/listed-bank.ts';
import { fullBic } from '../../iban/bic.ts';
import { createCountryIndex } from './country-index.ts';

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
   * The bank with this bank code in an IBAN of this country, or its branch, if the list has branches (HU); null if it is not
   * listed. Territories have no list, and do
   * not use the list of their parent: a wrong bank is worse than none.
   */
  findBank(country: string, bankCode: string, branch?: string | null): ListedBank | null;
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

/** One index of all lists. A country is read on first use, and again after an import by any process. */
export function createBankDirectory(options: BankListsOptions = {}): BankDirectory {
  const lists = createBankLists(options);
  const indexOf = keepByEdition(lists, (country) => createCountryIndex(country, lists.banks(country)));

  return {
    findBank: (country, bankCode, branch = null) => indexOf(country)?.findByCode(bankCode, branch) ?? null,
    findBankByBic(bic) {
      // A bank may have a BIC of another country, so all lists are searched, first the list of the country in the BIC.
      const home = bic.slice(4, 6);
      const order = lists.countries().sort((a, b) => Number(b === home) - Number(a === home));
      const find = (full: string) =>
        order.reduce<ListedBank | null>((bank, code) => bank ?? indexOf(code)?.findByBic(full) ?? null, null);
      return find(fullBic(bic)) ?? find(fullBic(bic.slice(0, 8)));
    },
    listBanks({ country, search = '', offset = 0, first = 100 } = {}) {
      const banks = (country === undefined ? lists.countries() : [country]).flatMap(
        (code) => indexOf(code)?.search(search) ?? [],
      );
      return { banks: banks.slice(offset, offset + first), total: banks.length };
    },
    version: lists.version,
    close: lists.close,
  };
}
