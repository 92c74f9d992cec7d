import type { BicProblem } from '../iban/bic.ts';
import type { IbanFieldProblem, IbanFieldValues } from '../iban/build-iban.ts';
import type { IbanProblem } from '../iban/iban.ts';
import type { RequestContext } from '../request-context.ts';

/** Why something is not valid: what its own characters show, or, where they show nothing, that the service says so. */
export type Rejected<Problem> = Problem | 'REJECTED_BY_SERVICE';

export interface IbanValidation {
  /** Without spaces or hyphens, in upper case. */
  iban: string;
  valid: boolean;
  /** Empty when valid, and only then. */
  problems: readonly Rejected<IbanProblem>[];
  ibanData: IbanData | null;
  bankData: BankData | null;
  countryIbanExample: string | null;
}

/** An IBAN taken apart. Null where the country has no such part or the service does not tell. */
export interface IbanData {
  country: string | null;
  countryCode: string;
  sepaCountry: boolean | null;
  checksum: string;
  bban: string;
  bankCode: string | null;
  accountNumber: string | null;
  branch: string | null;
  nationalChecksum: string | null;
  countryIbanFormatAsSwift: string | null;
  countryIbanFormatAsRegex: string | null;
}

/** The bank that keeps an account. Null where the directory does not tell. */
export interface BankData {
  bankCode: string | null;
  name: string | null;
  zip: string | null;
  city: string | null;
  bic: string | null;
}

export interface BicValidation {
  /** Without spaces, in upper case. */
  bic: string;
  valid: boolean;
  /** Empty when valid, and only then. */
  problems: readonly Rejected<BicProblem>[];
  /** Null where the service does not know the bank. */
  bank: Bank | null;
}

/** A bank as a list of banks has it. Null where the list does not tell. */
export interface Bank extends BankData {
  countryCode: string | null;
  address: string | null;
  /** Who published the record. */
  source: string | null;
  /** ISO 8601 date on which the record was published or imported. */
  date: string | null;
}

export interface BankListing {
  /** ISO 3166-1 alpha-2; null: all that the service lists. */
  country: string | null;
  /** Words to find in name, bank code or BIC. */
  search: string | null;
  /** How many banks to skip. */
  offset: number;
  /** Most banks to answer. */
  limit: number;
}

export interface BankPage {
  /** Banks with their places in the list, counted from 0. Fewer than asked for where the service cannot search itself. */
  banks: readonly { bank: Bank; offset: number }[];
  /** Where the next page begins; null where there is none. */
  next: number | null;
  /** Null where the service does not tell, or cannot search by itself. */
  total: number | null;
}

export type IbanGeneration =
  | { kind: 'iban'; validation: IbanValidation }
  | { kind: 'invalid'; message: string; faults: readonly IbanFieldProblem[] };

/**
 * What the gateway asks about banks and accounts; what stands behind it is no concern of those who ask. A list is
 * answered in the order asked, each entry settled on its own: a failed look-up is an error in its place. Everything
 * rejects when nobody waits any more.
 */
export interface BankDataPort {
  /** @param ibans compacted */
  validateIbans(ibans: readonly string[], caller: RequestContext): Promise<readonly (IbanValidation | Error)[]>;
  /** @param bics compacted */
  validateBics(bics: readonly string[], caller: RequestContext): Promise<readonly (BicValidation | Error)[]>;
  generateIban(source: IbanFieldValues, caller: RequestContext): Promise<IbanGeneration>;
  listBanks(listing: BankListing, caller: RequestContext): Promise<BankPage>;
}
