import { findCountryFormat } from '../iban/registry.ts';

/** A bank in a directory; fields that the directory does not have are empty. */
export interface ListedBank {
  /** ISO 3166-1 alpha-2 code of the IBANs that contain the bank code. */
  country: string;
  bankCode: string;
  name: string;
  zip: string;
  city: string;
  /** 8 characters, or 11 with the branch, as listed. */
  bic: string;
  /** Empty without a BIC. */
  bicSource: BicSource | '';
  /** The publisher of the record. */
  source: string;
  /** ISO date of the published list; of its import, if the file has none. */
  date: string;
  /** Whether it is only in an older list than the current one, or has closed: its accounts may still be in use. */
  isDeleted?: boolean;
  /** The bank code of the bank that took a deleted one over; absent if unknown. */
  successor?: string;
  /** The method of the check digit in its account numbers, such as `63`; only in imported German lists. */
  accountCheckMethod?: string;
  /** Its IBAN rule and the version of the rule, such as `000503`; only in imported German lists. */
  ibanRule?: string;
}

/**
 * Where a BIC is from: the list of bank codes of the country, a register of institutions, whose BIC may not be the one on
 * account statements, a list that volunteers keep, or our corrections of such lists.
 */
export type BicSource = 'NATIONAL_LIST' | 'REGISTER' | 'CURATED' | 'CORRECTED';

/** Deleted: only an older list has the bank, or it has closed. */
export type BankStatus = 'LISTED' | 'DELETED';

/** What is known of the list of a country. */
export interface BankListStatus {
  country: string;
  kind: Exclude<BicSource, 'CORRECTED'>;
  /** The publisher. */
  source: string;
  /** ISO date of the list. */
  date: string;
  /** ISO date of its last day, by its publisher or by how often it is published; null if unknown. */
  validUntil: string | null;
  /** Whether it has all bank codes in use. */
  isComplete: boolean;
}

/** A bank whose empty name and BIC are from another list, which its source then names. */
export function fillEmptyFields(bank: ListedBank, other: ListedBank): ListedBank {
  const filled = (['name', 'bic'] as const).filter((field) => bank[field] === '' && other[field] !== '');
  if (filled.length === 0) return bank;
  const source = `${bank.source}; ${filled.join(' and ')} from ${other.source} (${other.date})`;
  const { name, bic, bicSource } = other;
  return { ...bank, ...(bank.name === '' && { name }), ...(bank.bic === '' && { bic, bicSource }), source };
}

/** One row of a directory. */
export type BankEntry = Pick<
  ListedBank,
  'bankCode' | 'name' | 'zip' | 'city' | 'bic' | 'accountCheckMethod' | 'ibanRule'
>;

/** Whether a bank code in a list is longer than in IBANs: it is followed by a branch, as in the list of Hungary. */
export function isBranch(country: string, bankCode: string): boolean {
  const { first, last } = findCountryFormat(country)?.bankCode ?? { first: 1, last: 0 };
  return bankCode.length > last - first + 1;
}

/** Number of banks in a list, without branches. */
export function countBanks(country: string, listed: readonly Pick<ListedBank, 'bankCode'>[]): number {
  return listed.filter(({ bankCode }) => !isBranch(country, bankCode)).length;
}
