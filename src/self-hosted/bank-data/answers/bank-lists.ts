import { z } from 'zod';
import { findCountryCode } from '../../../countries/country-name.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, complainOfText, type Query, readText, reject } from './answer.ts';
import { layOutPage, type Page, readPageRequest } from './pagination.ts';
import { shapeSwiftData, swiftDataSchema } from './swift-data.ts';

export const listedBankSchema = z.object({
  id: z.int().describe('Its place in the list of its country, from 1.'),
  name: z.string().describe('The BIC where the list has no name.'),
});

export const listedBankDetailsSchema = z.object({
  iban_data: z.object({ country: z.string(), country_code: z.string(), bank_code: z.string() }),
  swift_data: swiftDataSchema,
});

type ListedBank = z.infer<typeof listedBankSchema>;
type ListedBankDetails = z.infer<typeof listedBankDetailsSchema>;

/** Answers the query of `banks_by_country`: names, ten a page. */
export function answerBanksByCountry(path: string, query: Query, directory: BankDirectory): Answer<Page<ListedBank>> {
  const text = readText(query, 'country_code');
  const complaint = complainOfText(text, 'country_code');
  if (complaint !== null) return reject({ country_code: [complaint] });
  const country = findCountryCode(text ?? '');
  if (country === null) return reject({ country_code: [unknownCountry] });
  const request = readPageRequest({ page: query.page });
  if ('errors' in request) return reject(request.errors);

  const offset = (request.page - 1) * request.perPage;
  const { banks, total } = directory.listBanks({ country, offset, first: request.perPage });
  const items = banks.map(({ name, bic }, index) => ({ id: offset + index + 1, name: name || bic }));
  return answer(layOutPage(path, query, request, { items, total }));
}

/**
 * Answers the query of `all`: every bank, or those of a country by its code or name. `search`, which the hosted service
 * is not known to have, finds part of a name, a bank code or a BIC.
 */
export function answerAll(path: string, query: Query, directory: BankDirectory): Answer<Page<ListedBankDetails>> {
  const text = readText(query, 'country');
  const search = readText(query, 'search');
  if (text === null) return reject({ country: ['country must be given only once.'] });
  if (search === null) return reject({ search: ['search must be given only once.'] });
  const country = text === '' ? undefined : findCountryCode(text);
  if (country === null) return reject({ country: [unknownCountry] });
  const request = readPageRequest(query);
  if ('errors' in request) return reject(request.errors);

  const offset = (request.page - 1) * request.perPage;
  const { banks, total } = directory.listBanks({
    ...(country !== undefined && { country }),
    search,
    offset,
    first: request.perPage,
  });
  const items = banks.map(shapeSwiftData).map((swift_data) => {
    const { country: name, country_code, bank_code } = swift_data;
    return { iban_data: { country: name, country_code, bank_code }, swift_data };
  });
  return answer(layOutPage(path, query, request, { items, total }));
}

const unknownCountry = 'There is no such country; write a code such as DE or an English name such as Germany.';
