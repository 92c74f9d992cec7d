import { type BankListsOptions, createBankLists, findInList, keepByEdition } from '../banks/bank-lists.ts';
import { isBranch, type ListedBank } from '../banks/listed-bank.ts';
import { normalizeForSearch } from '../banks/normalize-for-search.ts';
import { fullBic } from '../iban/bic.ts';
import type { FindGermanRule } from '../iban/build-iban.ts';

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
   * listed. Territories have no list, and do not use the list of their parent: a wrong bank is worse than none.
   */
  findBank(country: string, bankCode: string, branch?: string | null): ListedBank | null;
  /** The IBAN rule of this German bank code; null if it is not known whether it has one. */
  findIbanRule: FindGermanRule;
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
  const rulesOf = keepByEdition(lists, lists.ibanRules);
  const indexOf = keepByEdition(lists, (country) => createCountryIndex(country, lists.banks(country)));

  return {
    findBank: (country, bankCode, branch = null) => indexOf(country)?.findByCode(bankCode, branch) ?? null,
    findIbanRule: (bankCode) => rulesOf('DE')?.get(bankCode) ?? null,
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

/** The banks of one country, indexed for lookups. */
interface CountryIndex {
  /** The record of the branch, if the list has branches; otherwise of the bank. */
  findByCode(bankCode: string, branch: string | null): ListedBank | null;
  /** By a BIC of 11 characters; if several banks share it, the one most likely to be the head office. */
  findByBic(bic: string): ListedBank | null;
  /**
   * Banks whose name contains all words, or whose bank code or BIC starts with the text; by bank code, ascending, without the branches
   * that a Hungarian list has.
   */
  search(text: string): readonly ListedBank[];
}

function createCountryIndex(country: string, unordered: readonly ListedBank[]): CountryIndex {
  const byCode = new Map(unordered.map((bank) => [bank.bankCode, bank]));
  const banks = unordered
    .filter(({ bankCode }) => !isBranch(country, bankCode))
    .sort((a, b) => (a.bankCode < b.bankCode ? -1 : 1));
  const byBic = new Map<string, ListedBank>();
  for (const bank of banks) {
    if (bank.bic === '') continue;
    const known = byBic.get(fullBic(bank.bic));
    if (known === undefined || isCloserToHeadOffice(bank, known)) byBic.set(fullBic(bank.bic), bank);
  }
  // Created on the first search: normalizing 10,000 names takes longer than the rest of the index.
  let normalizedNames: readonly string[] | undefined;

  return {
    findByCode(bankCode, branch) {
      const listed = findInList(byCode, bankCode, branch);
      return listed && { ...listed, bankCode };
    },
    findByBic: (bic) => byBic.get(bic) ?? null,
    search(text) {
      normalizedNames ??= banks.map(({ name }) => normalizeForSearch(name));
      const names = normalizedNames;
      const words = normalizeForSearch(text).split(/\s+/).filter(Boolean);
      const code = text.replace(/\s+/g, '').toUpperCase();
      return banks.filter(
        ({ bankCode, bic }, index) =>
          words.every((word) => names[index]?.includes(word)) || bankCode.startsWith(code) || bic.startsWith(code),
      );
    },
  };
}

/**
 * Whether the first of two banks with the same BIC is more likely to be the head office, which no directory marks. In
 * this order: a bank that has not closed, a bank code of the place in a German BIC, the shorter name, because branches and accounting units append
 * to it (`Isbank` and `Isbank Fil Berlin`), the lower bank code. Banks without a name come last.
 */
function isCloserToHeadOffice(bank: ListedBank, other: ListedBank): boolean {
  if (bank.isDeleted !== other.isDeleted) return !bank.isDeleted;
  const [isInPlace, otherIsInPlace] = [isInPlaceOfBic(bank), isInPlaceOfBic(other)];
  if (isInPlace !== otherIsInPlace) return isInPlace;
  const [length, otherLength] = [bank.name.length || Infinity, other.name.length || Infinity];
  if (length !== otherLength) return length < otherLength;
  return bank.bankCode < other.bankCode;
}

/**
 * By the location of a German BIC: the first digits of the bank codes of that place (Berlin, Düsseldorf, Frankfurt,
 * Hamburg, Munich, Stuttgart). Other places cannot be recognized.
 */
const places: Readonly<Record<string, string>> = {
  BB: '100',
  DD: '300',
  FF: '500',
  HH: '200',
  MM: '700',
  SS: '600',
};

function isInPlaceOfBic({ country, bankCode, bic }: ListedBank): boolean {
  const place = country === 'DE' ? places[bic.slice(6, 8)] : undefined;
  return place !== undefined && bankCode.startsWith(place);
}
