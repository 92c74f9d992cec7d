import { z } from 'zod';
import type { ListedBank } from '../../../bank-lists/listed-bank.ts';
import { countryName } from '../../../countries/country-name.ts';
import { parseBic } from '../../../iban/bic.ts';

/** A bank in the words of the wire; empty where the directory does not tell. */
export const swiftDataSchema = z.object({
  name: z.string(),
  address: z.string(),
  branch: z.string(),
  zip: z.string(),
  city: z.string(),
  country: z.string(),
  country_code: z.string(),
  swift: z.string(),
  bank_code: z.string(),
  source: z.string().describe('Who published the record. The hosted service does not tell.'),
  date: z.string().describe('ISO date of the record. The hosted service does not tell.'),
});

export type SwiftData = z.infer<typeof swiftDataSchema>;

export function shapeSwiftData({ country, bankCode, name, zip, city, bic, source, date }: ListedBank): SwiftData {
  return {
    name,
    address: '',
    branch: parseBic(bic)?.branch ?? '',
    zip,
    city,
    country: countryName(country) ?? '',
    country_code: country,
    swift: bic,
    bank_code: bankCode,
    source,
    date,
  };
}

/** What is known of a bank that no list has. */
export const noBank: SwiftData = {
  name: '',
  address: '',
  branch: '',
  zip: '',
  city: '',
  country: '',
  country_code: '',
  swift: '',
  bank_code: '',
  source: '',
  date: '',
};
