import { z } from 'zod';
import type { BankData, IbanData } from './bank-data.ts';

/*
 * The body of `GET /bank_data/iban_validate`, read tolerantly: absent, null, "" and PHP's empty array for an empty
 * object are the same; a number or boolean where text is expected is its text; unknown fields are ignored.
 */

const text = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .catch(null)
  .transform((value) => {
    const trimmed = String(value ?? '').trim();
    return trimmed === '' ? null : trimmed;
  });

const flag = z.unknown().transform((value) => {
  if (/^(true|yes|1)$/i.test(String(value))) return true;
  if (/^(false|no|0)$/i.test(String(value))) return false;
  return null;
});

const wireIbanData = z.object({
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
});

const wireBankData = z.object({ bank_code: text, name: text, zip: text, city: text, bic: text });

const wireIbanValidation = z.object({
  valid: z.boolean(),
  iban_data: wireIbanData.nullish().catch(null),
  bank_data: wireBankData.nullish().catch(null),
  country_iban_example: text,
});

/** An answer of the service in our own words; null where it does not tell. */
export interface WireAnswer {
  valid: boolean;
  ibanData: IbanData | null;
  bankData: BankData | null;
  countryIbanExample: string | null;
}

/** The answer to a question about this IBAN in our own words, or null when the body cannot be one. */
export function readIbanValidation(body: unknown, iban: string): WireAnswer | null {
  const { data: wire } = wireIbanValidation.safeParse(body);
  if (wire === undefined) return null;
  return {
    valid: wire.valid,
    ibanData: wire.iban_data ? readIbanData(wire.iban_data, iban) : null,
    bankData: wire.bank_data ? readBankData(wire.bank_data) : null,
    countryIbanExample: wire.country_iban_example,
  };
}

/** The country code, the check digits and the BBAN are the IBAN's own characters, whether the wire repeats them or not. */
function readIbanData(wire: z.infer<typeof wireIbanData>, iban: string): IbanData | null {
  if (Object.values(wire).every((value) => value === null)) return null;
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

function readBankData(wire: z.infer<typeof wireBankData>): BankData | null {
  if (Object.values(wire).every((value) => value === null)) return null;
  const { bank_code: bankCode, name, zip, city, bic } = wire;
  return { bankCode, name, zip, city, bic };
}
