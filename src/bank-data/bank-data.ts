import type { IbanProblem } from '../iban/iban.ts';

/** Why an IBAN is not valid: what its own characters show, or, where they show nothing, that the service says so. */
export type ValidationProblem = IbanProblem | 'REJECTED_BY_SERVICE';

export interface IbanValidation {
  /** Without spaces or hyphens, in upper case. */
  iban: string;
  valid: boolean;
  /** Empty when valid, and only then. */
  problems: readonly ValidationProblem[];
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

/** A bank as its national directory lists it. Null where the directory does not tell. */
export interface BankData {
  bankCode: string | null;
  name: string | null;
  zip: string | null;
  city: string | null;
  bic: string | null;
}

/** What the gateway asks about banks and accounts; what stands behind it is no concern of those who ask. */
export interface BankDataPort {
  /**
   * Validates normalised IBANs. Answers in the order asked, each IBAN settled on its own: a failed look-up is an
   * error in its place. Rejects only when the signal says that nobody waits any more.
   */
  validateIbans(ibans: readonly string[], signal: AbortSignal): Promise<readonly (IbanValidation | Error)[]>;
}
