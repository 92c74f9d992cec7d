import type { BicProblem } from '../iban/bic.ts';
import type { IbanFieldProblem, IbanFieldValues } from '../iban/build-iban.ts';
import type { IbanProblem } from '../iban/iban.ts';
import type { RequestContext } from '../request-context.ts';

/** Why an IBAN or BIC is not valid: a problem found here or, where none was found, the service's rejection. */
type Rejected<Problem> = Problem | 'REJECTED_BY_SERVICE';

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

/** The parts of an IBAN. Null where the country has no such part or the service does not return it. */
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

/** The bank of an account. Null where the directory has no value. */
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

/** An entry of a bank list. Null where the list has no value. */
export interface Bank extends BankData {
  countryCode: string | null;
  address: string | null;
  /** Publisher of the record. */
  source: string | null;
  /** ISO 8601 date on which the record was published or imported. */
  date: string | null;
}

export interface BankListing {
  /** ISO 3166-1 alpha-2; null: every country of the service. */
  country: string | null;
  /** Words to find in name, bank code or BIC. */
  search: string | null;
  /** Banks to skip. */
  offset: number;
  /** Largest page. */
  limit: number;
}

export interface BankPage {
  /** Banks with their offsets in the list. Fewer than the limit where the service does not search by itself. */
  banks: readonly { bank: Bank; offset: number }[];
  /** Offset of the next page; null on the last one. */
  next: number | null;
  /** Null where the service does not return it, or does not search by itself. */
  total: number | null;
}

export type IbanGeneration =
  | { kind: 'iban'; validation: IbanValidation }
  | { kind: 'invalid'; message: string; problems: readonly IbanFieldProblem[] };

/**
 * What the gateway needs to know about banks and accounts, one key and one answer at a time. A failed look-up rejects
 * with a GatewayError; everything rejects with the signal's reason when the caller leaves.
 */
export interface BankDataPort {
  /** @param iban compacted */
  validateIban(iban: string, context: RequestContext): Promise<IbanValidation>;
  /** @param bic compacted */
  validateBic(bic: string, context: RequestContext): Promise<BicValidation>;
  generateIban(values: IbanFieldValues, context: RequestContext): Promise<IbanGeneration>;
  listBanks(listing: BankListing, context: RequestContext): Promise<BankPage>;
}
