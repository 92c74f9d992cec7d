import { isoDateOf } from '../base/calendar-period.ts';
import type { FindGermanRule } from '../iban/build-iban.ts';
import { type BankLists, findInList, isAuthoritative, isOld, keepByEdition } from './bank-lists.ts';
import type { BankListStatus, ListedBank } from './listed-bank.ts';
import {
  type BankScheme,
  findSchemes,
  type ListedRegister,
  type PaymentScheme,
  type SchemeRegister,
} from './scheme-registers.ts';
import { createSortedText } from './sorted-text.ts';

/** What the bank lists say without an upstream call. */
export interface KnownBanks {
  /** Whether a list has this bank code of this country. */
  has(country: string, bankCode: string): boolean;
  /**
   * Whether the current list of the country has this bank code. Not listed only if that list is complete and valid today;
   * unknown, too, for a bank code that only an older list has.
   */
  status(country: string, bankCode: string): BankCodeStatus;
  /** The method of the check digit in account numbers of this German bank code, such as `63`; null if unknown. */
  accountCheckMethod(bankCode: string): string | null;
  /** The IBAN rule of this German bank code; null if it is not known whether it has one. */
  ibanRule: FindGermanRule;
  /** All BICs that the lists give for this bank code, first those of the present list; empty if there are none. */
  bics(country: string, bankCode: string): readonly string[];
  /** What each imported register of a payment scheme says about the bank with this BIC; null without a register or a valid BIC. */
  schemes(bic: string): readonly BankScheme[] | null;
  /** The imported registers of payment schemes. */
  registers(): readonly Omit<SchemeRegister, 'participants'>[];
  /** The lists of all countries, by code. */
  lists(): readonly BankListStatus[];
  /** Those that `has` or `bics` read and that are out of date, by code. */
  oldListsInUse(): readonly BankListStatus[];
  /**
   * Reads the list of Germany and the registers a second after the start, one at a time; until then, and all other lists, are read on
   * first use. The German list, which is the largest, takes 15 ms, and 50 ms in a cold process.
   * @returns a function that stops reading
   */
  loadSoon(): () => void;
  close(): Promise<void>;
}

export type BankCodeStatus = 'LISTED' | 'NOT_LISTED' | 'UNKNOWN';

export function createKnownBanks(lists: BankLists): KnownBanks {
  // The method of the check digit in account numbers, if it is known, or that the bank is deleted.
  const knownCodes = keepByEdition(lists, (country) =>
    createSortedText(
      lists
        .banks(country)
        .map((bank) => [bank.bankCode, bank.accountCheckMethod ?? (bank.isDeleted ? deleted : '')] as const),
    ),
  );
  const bicsOf = keepByEdition(lists, (country) =>
    createSortedText(Array.from(lists.bics(country), ([bankCode, bics]) => [bankCode, bics.join(' ')] as const)),
  );
  const inUse = new Set<string>();
  const use = <Kept>(country: string, list: Kept | null) => {
    if (list !== null) inUse.add(country);
    return list;
  };
  const rulesOf = keepByEdition(lists, lists.ibanRules);
  const knownRegisters = new Map<PaymentScheme, { revision: number; register: SchemeRegister }>();

  function readRegister({ scheme, date, revision }: ListedRegister): SchemeRegister {
    const found = knownRegisters.get(scheme);
    if (found?.revision === revision) return found.register;
    const register = { scheme, date, participants: lists.participants(scheme) };
    knownRegisters.set(scheme, { revision, register });
    return register;
  }

  return {
    has: (country, bankCode) => findInList(use(country, knownCodes(country)), bankCode) !== null,
    status(country, bankCode) {
      const list = lists.status(country);
      if (list === null) return 'UNKNOWN';
      const code = findInList(knownCodes(country), bankCode);
      return bankCodeStatus(list, code === null ? null : { isDeleted: code === deleted });
    },
    accountCheckMethod(bankCode) {
      const code = knownCodes('DE')?.get(bankCode);
      return code === deleted ? null : code || null;
    },
    ibanRule: (bankCode) => rulesOf('DE')?.get(bankCode) ?? null,
    bics: (country, bankCode) =>
      findInList(use(country, bicsOf(country)), bankCode)
        ?.split(' ')
        .filter(Boolean) ?? [],
    schemes: (bic) => findSchemes(lists.registers().map(readRegister), bic, isoDateOf()),
    registers: () => lists.registers().map(({ scheme, date }) => ({ scheme, date })),
    lists: () => lists.countries().flatMap((country) => lists.status(country) ?? []),
    oldListsInUse: () =>
      [...inUse]
        .sort()
        .flatMap((country) => lists.status(country) ?? [])
        .filter(isOld),
    loadSoon() {
      let isStopped = false;
      const load = (remaining: readonly (() => void)[]) => {
        const [read, ...others] = remaining;
        if (read === undefined || isStopped) return;
        read();
        setImmediate(load, others).unref();
      };
      const loadAll = () =>
        load([
          () => knownCodes('DE'),
          () => bicsOf('DE'),
          ...lists.registers().map((register) => () => readRegister(register)),
        ]);
      const timer = setTimeout(loadAll, loadAfterMs).unref();
      return () => {
        isStopped = true;
        clearTimeout(timer);
      };
    },
    close: () => lists.close(),
  };
}

/** @param code what the list has under the bank code; null if it does not have it */
export function bankCodeStatus(list: BankListStatus, code: Pick<ListedBank, 'isDeleted'> | null): BankCodeStatus {
  if (code !== null) return code.isDeleted ? 'UNKNOWN' : 'LISTED';
  return isAuthoritative(list) ? 'NOT_LISTED' : 'UNKNOWN';
}

const deleted = 'deleted';
/** The first requests after the start come before. */
const loadAfterMs = 1_000;
