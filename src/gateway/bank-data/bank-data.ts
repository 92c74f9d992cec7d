import type { BankStatus, BicSource } from '../../banks/listed-bank.ts';
import type { BicProblem } from '../../iban/bic.ts';
import type { IbanFieldValues, IbanRuleState } from '../../iban/build-iban.ts';
import type { IbanProblem } from '../../iban/iban.ts';
import type { IbanFieldProblem } from '../../iban/iban-fields.ts';
import type { RequestContext } from '../request-context.ts';

/** Why an IBAN or BIC is not valid: problems found locally or, if there are none, that the service rejected it. */
type ValidationProblem<LocalProblem> = LocalProblem | 'REJECTED_BY_SERVICE';

export interface IbanValidation {
  /** Without spaces or hyphens, in upper case. */
  iban: string;
  valid: boolean;
  /** Empty when valid, and only then. */
  problems: readonly ValidationProblem<IbanProblem>[];
  ibanData: IbanData | null;
  bankData: BankData | null;
  /** Only of a generated IBAN, if known. */
  ibanRule?: IbanRuleState | null;
}

/** The parts of an IBAN, named as in the GraphQL schema (`checksum`: the check digits). Null if not known. */
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
  /** In the notation of the SWIFT IBAN registry, such as DE2!n8!n10!n. */
  countryIbanFormatAsSwift: string | null;
  countryIbanFormatAsRegex: string | null;
}

/** A bank as its directory lists it. Null where the directory has no value. */
export interface BankData {
  bankCode: string | null;
  countryCode: string | null;
  name: string | null;
  address: string | null;
  zip: string | null;
  city: string | null;
  bic: string | null;
  /** Only the self-hosted service reports it. */
  bicSource: BicSource | null;
  /** Only the self-hosted service reports it. */
  status: BankStatus | null;
  /** The bank code of the bank that took a deleted one over. */
  successor: string | null;
  /** Publisher of the record. */
  source: string | null;
  /** ISO 8601 date of the published list; of its import, if the file has none. */
  date: string | null;
}

export interface BicValidation {
  /** Without spaces, in upper case. */
  bic: string;
  valid: boolean;
  /** Empty when valid, and only then. */
  problems: readonly ValidationProblem<BicProblem>[];
  /** Null where the service does not know the bank. */
  bank: BankData | null;
}

export interface BankListRequest {
  /** ISO 3166-1 alpha-2; null: every country of the service. */
  country: string | null;
  /** Words to find in name, bank code or BIC. */
  search: string | null;
  /** Banks to skip. */
  offset: number;
  /** Maximum number of banks per page. */
  limit: number;
}

export interface BankPage {
  /** Banks with their offsets in the list. Fewer than `limit` if the service ignores `search`: the page is filtered. */
  banks: readonly { bank: BankData; offset: number }[];
  /** Offset of the next page; null on the last one. */
  next: number | null;
  /** Null if the service does not return it or ignores `search`. */
  total: number | null;
  /** Whether it is shorter than it could be, because the calls or the time for it ended. */
  isCutShort?: boolean;
}

export type IbanGeneration =
  | { kind: 'iban'; validation: IbanValidation }
  | {
      kind: 'invalid';
      message: string;
      problems: readonly IbanFieldProblem[];
      /** The IBAN of its parent country, if the only problem is that the country is a territory. */
      suggestions: readonly string[];
    };

/** The answer of a look-up; a GatewayError if it has failed. */
export type Found<Answer> = Answer | Error;
/** What a quote has in place of an answer that is not kept: no service is called. */
export const notKept = new Error('The answer is not kept, and a quote calls no service.');

/**
 * The bank-data look-ups that the gateway needs. Those of a list are a batch with one deadline; what was found is in their order.
 * All reject with the signal's reason if the caller has left; those of one answer, also with a GatewayError.
 */
export interface BankDataPort {
  /** @param ibans compacted, each once */
  validateIbans(ibans: readonly string[], context: RequestContext): Promise<readonly Found<IbanValidation>[]>;
  /** @param bics compacted, each once */
  validateBics(bics: readonly string[], context: RequestContext): Promise<readonly Found<BicValidation>[]>;
  generateIban(values: IbanFieldValues, context: RequestContext): Promise<IbanGeneration>;
  listBanks(request: BankListRequest, context: RequestContext): Promise<BankPage>;
}
