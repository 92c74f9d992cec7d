import { z } from 'zod';
import { compactIban } from '../../iban/iban.ts';
import type { BankData, IbanData } from '../bank-data.ts';
import { flag, optionalObject, text } from './wire-values.ts';

/** The body of `iban_validate` and `iban_generate`. Unknown fields are ignored. */
const wireIbanValidation = z.object({
  valid: z.boolean(),
  iban: text,
  iban_data: optionalObject({
    country: text,
    country_code: text,
    sepa_country: flag,
    checksum: text,
    BBAN: text,
    bank_code: text,
    account_number: text,
    branch: text,
    national_checksum: text,
    country_iban_format_as_swift: text,
    country_iban_format_as_regex: text,
  }),
  bank_data: optionalObject({ bank_code: text, name: text, zip: text, city: text, bic: text }),
  country_iban_example: text,
});

type Wire = z.infer<typeof wireIbanValidation>;

/** The parsed body; a part is null if the service does not return it. */
export interface IbanAnswer {
  valid: boolean;
  ibanData: IbanData | null;
  bankData: BankData | null;
  countryIbanExample: string | null;
}

/** Parses the answer for this compacted IBAN; null if the body has another shape or is about another IBAN. */
export function readIbanAnswer(body: unknown, iban: string): IbanAnswer | null {
  const { data: wire } = wireIbanValidation.safeParse(body);
  if (wire === undefined || (wire.iban !== null && compactIban(wire.iban) !== iban)) return null;
  return {
    valid: wire.valid,
    ibanData: wire.iban_data && readIbanData(wire.iban_data, iban),
    bankData: wire.bank_data && readBankData(wire.bank_data),
    countryIbanExample: wire.country_iban_example,
  };
}

/** The IBAN in an answer; null if there is none. */
export function readIban(body: unknown): string | null {
  return wireIbanValidation.safeParse(body).data?.iban ?? null;
}

/** Country code, check digits and BBAN come from the IBAN itself where the service does not repeat them. */
function readIbanData(wire: NonNullable<Wire['iban_data']>, iban: string): IbanData {
  return {
    country: wire.country,
    countryCode: wire.country_code ?? iban.slice(0, 2),
    sepaCountry: wire.sepa_country,
    checksum: wire.checksum ?? iban.slice(2, 4),
    bban: wire.BBAN ?? iban.slice(4),
    bankCode: wire.bank_code,
    accountNumber: wire.account_number,
    branch: wire.branch,
    nationalChecksum: wire.national_checksum,
    countryIbanFormatAsSwift: wire.country_iban_format_as_swift,
    countryIbanFormatAsRegex: wire.country_iban_format_as_regex,
  };
}

function readBankData({ bank_code: bankCode, name, zip, city, bic }: NonNullable<Wire['bank_data']>): BankData {
  return { bankCode, name, zip, city, bic };
}
