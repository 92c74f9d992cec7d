import { type BankListsOptions, createBankLists, findInList, keepByEdition } from '../banks/bank-lists.ts';
import { isBranch, type ListedBank } from '../banks/listed-bank.ts';
import { normalizeForSearch } from '../banks/normalize-for-search.ts';
import { createSortedText } from '../banks/sorted-text.ts';
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
  /** Changes whenever an answer may: after an import, and with the lists in the package. */
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
      const found = (country === undefined ? lists.countries() : [country]).flatMap((code) => {
        const index = indexOf(code);
        return index === null ? [] : index.search(search).map((line) => ({ index, line }));
      });
      const banks = found.slice(offset, offset + first).map(({ index, line }) => index.read(line));
      return { banks, total: found.length };
    },
    version: lists.version,
    close: lists.close,
  };
}

/** The banks of one country, one line each, indexed for lookups. */
interface CountryIndex {
  /** The record of the branch, if the list has branches; otherwise of the bank. */
  findByCode(bankCode: string, branch: string | null): ListedBank | null;
  /** By a BIC of 11 characters; if several banks share it, the one most likely to be the head office. */
  findByBic(bic: string): ListedBank | null;
  /**
   * The lines of banks whose name contains all words, or whose bank code or BIC starts with the text; by bank code, ascending, without
   * the branches that a Hungarian list has.
   */
  search(text: string): readonly string[];
  read(line: string): ListedBank;
}

function createCountryIndex(country: string, listed: readonly ListedBank[]): CountryIndex {
  // Most banks of a list are from the same origin.
  const origins: Origin[] = [];
  const numbers = new Map<string, number>();
  const byCode = createSortedText(
    listed.map(({ bankCode, name, bic, zip, city, bicSource, source, date, isDeleted, successor }) => {
      const origin = { bicSource, source, date, ...(isDeleted && { isDeleted }), ...(successor && { successor }) };
      const key = JSON.stringify(origin);
      const number = numbers.get(key) ?? origins.push(origin) - 1;
      numbers.set(key, number);
      return [bankCode, [name, bic, zip, city, number].join('\t')];
    }),
  );
  const headOffices = new Map<string, ListedBank>();
  for (const bank of listed) {
    if (bank.bic === '' || isBranch(country, bank.bankCode)) continue;
    const known = headOffices.get(fullBic(bank.bic));
    if (known === undefined || isCloserToHeadOffice(bank, known)) headOffices.set(fullBic(bank.bic), bank);
  }
  const byBic = createSortedText(Array.from(headOffices, ([bic, { bankCode }]) => [bic, bankCode]));
  const read = (bankCode: string, value: string): ListedBank => {
    const [name = '', bic = '', zip = '', city = '', number = 0] = value.split('\t');
    return { country, bankCode, name, zip, city, bic, ...(origins[Number(number)] as Origin) };
  };
  const findByCode: CountryIndex['findByCode'] = (bankCode, branch) => {
    const value = findInList(byCode, bankCode, branch);
    return value === null ? null : read(bankCode, value);
  };
  // Created on the first search: normalizing 10,000 names takes longer than the rest of the index.
  let normalizedNames: string | undefined;

  return {
    findByCode,
    findByBic(bic) {
      const bankCode = byBic.get(bic);
      return bankCode === undefined ? null : findByCode(bankCode, null);
    },
    search(text) {
      const lines = byCode.lines();
      normalizedNames ??= lines.map((line) => normalizeForSearch(line.split('\t', 2)[1] ?? '')).join('\n');
      const names = normalizedNames.split('\n');
      const words = normalizeForSearch(text).split(/\s+/).filter(Boolean);
      const code = text.replace(/\s+/g, '').toUpperCase();
      return lines.filter((line, index) => {
        const [bankCode = '', , bic = ''] = line.split('\t', 3);
        const isFound =
          words.every((word) => names[index]?.includes(word)) || bankCode.startsWith(code) || bic.startsWith(code);
        return isFound && !isBranch(country, bankCode);
      });
    },
    read(line) {
      const tab = line.indexOf('\t');
      return read(line.slice(0, tab), line.slice(tab + 1));
    },
  };
}

type Origin = Pick<ListedBank, 'bicSource' | 'source' | 'date' | 'isDeleted' | 'successor'>;

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
