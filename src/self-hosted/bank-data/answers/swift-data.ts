import * as z from 'zod';
import type { ListedBank } from '../../../bank-lists/listed-bank.ts';
import { countryName } from '../../../countries/country-name.ts';
import { parseBic } from '../../../iban/bic.ts';

/** A bank as the service returns it; fields that the directory does not have are empty. */
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
  source: z.string().describe('The publisher of the record. The hosted service does not return it.'),
  date: z.string().describe('ISO date of the record. The hosted service does not return it.'),
});

/** Without a bank, all fields are empty. */
export function toSwiftData(bank: ListedBank | null): z.infer<typeof swiftDataSchema> {
  const listed: Partial<ListedBank> = bank ?? {};
  const { country = '', bankCode = '', name = '', zip = '', city = '', bic = '', source = '', date = '' } = listed;
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
