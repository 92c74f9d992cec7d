import { compactIban } from '../../iban/iban.ts';
import type { BankData, IbanData } from '../bank-data.ts';
import { readFlag, readObject, readText, unlessEmpty } from './wire-values.ts';

/** The parsed body of `iban_validate` and `iban_generate`; a part is null if the service does not return it. */
export interface IbanAnswer {
  valid: boolean;
  ibanData: IbanData | null;
  bankData: BankData | null;
  countryIbanExample: string | null;
}

/** Whether a body is about this compacted IBAN; true if it names none. */
export function isAboutIban(body: unknown, iban: string): boolean {
  const found = readIban(body);
  return found === null || found === iban || compactIban(found) === iban;
}

/** Parses the answer for this compacted IBAN; null if the body has another shape. */
export function readIbanAnswer(body: unknown, iban: string): IbanAnswer | null {
  const wire = readObject(body);
  if (wire === null || typeof wire.valid !== 'boolean') return null;
  return {
    valid: wire.valid,
    ibanData: readIbanData(wire.iban_data, iban),
    bankData: readBankData(wire.bank_data),
    countryIbanExample: readText(wire.country_iban_example),
  };
}

/** The IBAN in an answer; null if there is none. */
export function readIban(body: unknown): string | null {
  return readText(readObject(body)?.iban);
}

/** Country code, check digits and BBAN come from the IBAN itself where the service does not repeat them. */
function readIbanData(value: unknown, iban: string): IbanData | null {
  const wire = readObject(value);
  const data =
    wire &&
    unlessEmpty({
      country: readText(wire.country),
      countryCode: readText(wire.country_code),
      sepaCountry: readFlag(wire.sepa_country),
      checksum: readText(wire.checksum),
      bban: readText(wire.BBAN),
      bankCode: readText(wire.bank_code),
      accountNumber: readText(wire.account_number),
      branch: readText(wire.branch),
      nationalChecksum: readText(wire.national_checksum),
      countryIbanFormatAsSwift: readText(wire.country_iban_format_as_swift),
      countryIbanFormatAsRegex: readText(wire.country_iban_format_as_regex),
    });
  if (data === null) return null;
  data.countryCode ??= iban.slice(0, 2);
  data.checksum ??= iban.slice(2, 4);
  data.bban ??= iban.slice(4);
  return data as IbanData;
}

function readBankData(value: unknown): BankData | null {
  const wire = readObject(value);
  if (wire === null) return null;
  return unlessEmpty({
    bankCode: readText(wire.bank_code),
    name: readText(wire.name),
    zip: readText(wire.zip),
    city: readText(wire.city),
    bic: readText(wire.bic),
  });
}
