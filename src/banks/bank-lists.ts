import { isoDateOf } from '../base/calendar-period.ts';
import { fullBic } from '../iban/bic.ts';
import type { GermanIbanRule } from '../iban/german-iban-rules.ts';
import { findCountryFormat } from '../iban/registry.ts';
import { correctBanks, correctionsDate, isRegister } from './bank-corrections.ts';
import { type BankImport, createImportReader } from './imported-lists.ts';
import { type BankEntry, type BankListStatus, fillEmptyFields, isBranch, type ListedBank } from './listed-bank.ts';
import type { ListedRegister, Participants, PaymentScheme } from './scheme-registers.ts';
import { createShippedBanks, readIbanRules } from './shipped-banks.ts';

/** The bank lists of all countries: those in the package, with our corrections, and the imported ones, which replace them. */
export interface BankLists {
  /** The countries with a list, sorted by code. */
  countries(): string[];
  /** Unsorted; empty for a country without a list. Read and parsed on every call. */
  banks(country: string): ListedBank[];
  /**
   * All BICs that any list gives for a bank code: first those of the present list, then those that our corrections and imports
   * replaced, former ones, and those of banks that merged with it. Read on every call.
   */
  bics(country: string): ReadonlyMap<string, readonly string[]>;
  /** The IBAN rules of German bank codes: of an imported list that has them, and otherwise the shipped ones. Read on every call. */
  ibanRules(): ReadonlyMap<string, GermanIbanRule>;
  /** Null for a country without a list. */
  status(country: string): BankListStatus | null;
  /** The imported registers of payment schemes. */
  registers(): readonly ListedRegister[];
  /** Read on every call; empty without an import. */
  participants(scheme: PaymentScheme): Participants;
  /** Changes whenever the list of the country does. */
  edition(country: string): string;
  /** Changes whenever any list of banks does. */
  version(): string;
  close(): Promise<void>;
}

export interface BankListsOptions {
  /** Folder with imported lists; without it, only the lists in the package are used. */
  dataDir?: string;
  /** How often it looks for imports by other processes at most: this reads a file, which takes 0.05 ms. */
  lookEveryMs?: number;
}

export function createBankLists({ dataDir, lookEveryMs = 1 }: BankListsOptions = {}): BankLists {
  const shipped = createShippedBanks();
  const reader = dataDir === undefined ? null : createImportReader(dataDir);
  let isFresh = false;

  function refresh(): void {
    if (reader === null || isFresh) return;
    reader.refresh();
    isFresh = true;
    setTimeout(() => {
      isFresh = false;
    }, lookEveryMs).unref();
  }

  function findImport(country: string): BankImport | null {
    refresh();
    return reader?.imports().get(country) ?? null;
  }

  function banks(country: string): ListedBank[] {
    const imported = findImport(country);
    if (imported === null) return shipped.banks(country);
    return completeImport(country, imported, reader?.entries(country) ?? [], shipped.banks(country));
  }

  return {
    countries() {
      refresh();
      return [...new Set([...shipped.countries, ...(reader?.imports().keys() ?? [])])].sort();
    },
    banks,
    bics(country) {
      const listed = banks(country);
      const pairs = listed.map(({ bankCode, bic }) => [bankCode, bic] as const);
      return addMerged(groupBics(country, [...pairs, ...shipped.bics(country)]), listed);
    },
    ibanRules() {
      const rules = readIbanRules();
      for (const { bankCode, ibanRule, accountCheckMethod = '' } of findImport('DE')
        ? (reader?.entries('DE') ?? [])
        : [])
        if (ibanRule) rules.set(bankCode, { rule: ibanRule, checkMethod: accountCheckMethod });
      return rules;
    },
    status(country) {
      const imported = findImport(country);
      if (imported === null) return shipped.status(country);
      const { source, date, validUntil = null, isComplete = false } = imported;
      const kind = isRegister(country) ? 'REGISTER' : 'NATIONAL_LIST';
      return { country, kind, source, date, validUntil, isComplete };
    },
    registers() {
      refresh();
      return reader?.registers() ?? [];
    },
    participants: (scheme) => reader?.participants(scheme) ?? new Map(),
    edition: (country) => `${shipped.edition(country)}/${findImport(country)?.revision ?? ''}`,
    version() {
      refresh();
      return `${shipped.version()}/${reader?.revision() ?? 0}`;
    },
    close: async () => reader?.close(),
  };
}

/** Keeps what is read of the list of a country until the list changes; null for a country without a list. */
export function keepByEdition<Kept>(
  lists: BankLists,
  read: (country: string) => Kept,
): (country: string) => Kept | null {
  const kept = new Map<string, { edition: string; value: Kept }>();
  return (country) => {
    const edition = lists.edition(country);
    const found = kept.get(country);
    if (found?.edition === edition) return found.value;
    // Countries that do not exist must not use memory.
    if (lists.status(country) === null) return null;
    const value = read(country);
    kept.set(country, { edition, value });
    return value;
  };
}

/** The BICs of branches are also BICs of their bank. */
function groupBics(
  country: string,
  pairs: readonly (readonly [bankCode: string, bic: string])[],
): ReadonlyMap<string, readonly string[]> {
  const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 1, last: 0 };
  const grouped = new Map<string, readonly string[]>();
  // Thousands of bank codes have the BIC of a head office, and share the array.
  const alone = new Map<string, readonly string[]>();
  for (const [code, bic] of pairs) {
    const bankCode = isBranch(country, code) ? code.slice(0, last - first + 1) : code;
    const bics = grouped.get(bankCode);
    if (bic === '') continue;
    if (bics !== undefined) grouped.set(bankCode, addBic(bics, bic));
    else {
      const only = alone.get(bic) ?? [bic];
      alone.set(bic, only);
      grouped.set(bankCode, only);
    }
  }
  return grouped;
}

/** Unless it is there, also with XXX in place of no branch. */
function addBic(bics: readonly string[], bic: string): readonly string[] {
  return bics.some((other) => fullBic(other) === fullBic(bic)) ? bics : [...bics, bic];
}

/** Payees and IBANs keep the BIC of a closed bank, or get that of its successor: each has those of the other after its own. */
function addMerged(
  own: ReadonlyMap<string, readonly string[]>,
  banks: readonly ListedBank[],
): ReadonlyMap<string, readonly string[]> {
  const merged = new Map(own);
  const add = (bankCode: string, other: string) =>
    merged.set(bankCode, (own.get(other) ?? []).reduce(addBic, merged.get(bankCode) ?? []));
  const successors = new Map(banks.flatMap(({ bankCode, successor }) => (successor ? [[bankCode, successor]] : [])));
  for (const bankCode of successors.keys()) {
    for (let next = successors.get(bankCode); next !== undefined; next = successors.get(next)) {
      add(bankCode, next);
      add(next, bankCode);
    }
  }
  return merged;
}

/**
 * What a list has under the longest code that an IBAN with this bank code and branch begins with; null if it does not list it. Some lists
 * have branches behind the bank code (HU), others the first digits of bank codes (FI, in earlier imports).
 */
export function findInList<Value>(
  list: Pick<ReadonlyMap<string, Value>, 'get'> | null,
  bankCode: string,
  branch: string | null = null,
): Value | null {
  for (let code = bankCode + (branch ?? ''); list !== null && code !== ''; code = code.slice(0, -1)) {
    const found = list.get(code);
    if (found !== undefined) return found;
  }
  return null;
}

/** Whether the absence of a bank code proves that no bank has it: the list is complete, has begun, and is not old. */
export function isAuthoritative(list: BankListStatus): boolean {
  return list.isComplete && list.date <= isoDateOf() && !isOld(list);
}

/** The one rule for all messages: whether today is after the last day of the list or, if that is unknown, a year after its date. */
export function isOld({ date, validUntil }: BankListStatus): boolean {
  return isoDateOf() > (validUntil ?? isoDateOf(Date.parse(date) + yearMs));
}

const yearMs = 365 * 24 * 60 * 60 * 1_000;

/** What to do about a list that ends within 30 days, or has ended; null for others. */
export function describeRenewal(list: BankListStatus): string | null {
  const { country, validUntil } = list;
  if (validUntil === null || validUntil > isoDateOf(Date.now() + renewalMs)) return null;
  const isOver = isOld(list);
  return `the list of ${country} ${isOver ? 'ended' : 'ends'} on ${validUntil}; import ${isOver ? 'a newer one' : 'the next one'}: ${importCommand(country)}`;
}

export const importCommand = (country: string): string => `ledgerquill import-banks ${country} FILE`;

const renewalMs = 30 * 24 * 60 * 60 * 1_000;

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
  const bicSource = isRegister(country) ? 'REGISTER' : 'NATIONAL_LIST';
  const banks = entries.map((entry): ListedBank => {
    // A BIC is never a name.
    const name = entry.name === entry.bic ? '' : entry.name;
    const bank: ListedBank = { ...entry, name, country, bicSource: entry.bic && bicSource, source, date };
    const before = known.get(bank.bankCode);
    return before === undefined ? bank : fillEmptyFields(bank, before);
  });
  // A register has the same mistakes in each edition, and an older national list lacks what was corrected since.
  return isRegister(country) || date < correctionsDate ? correctBanks(country, banks, { isImport: true }) : banks;
}
