import * as z from 'zod';
import type { ListedBank } from '../../../bank-lists/listed-bank.ts';
import { findCountryCode } from '../../../countries/country-name.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject, repeated } from './answer.ts';
import { createPage, type Page, readPageRequest } from './pagination.ts';
import { swiftDataSchema, toSwiftData } from './swift-data.ts';

export const bankNameSchema = z.object({
  id: z.int().describe('Its position in the list of its country, from 1.'),
  name: z.string().describe('The BIC if the list has no name.'),
});

export const bankRecordSchema = z.object({
  iban_data: z.object({ country: z.string(), country_code: z.string(), bank_code: z.string() }),
  swift_data: swiftDataSchema,
});

/** `banks_by_country`: the names of banks, ten per page. */
export function answerBanksByCountry(
  query: Query,
  directory: BankDirectory,
  url: string,
): Answer<Page<z.infer<typeof bankNameSchema>>> {
  const text = readText(query, 'country_code');
  const problem = findTextProblem(text, 'country_code');
  const country = findCountryCode(text ?? '');
  if (problem !== null || country === null) return reject({ country_code: [problem ?? unknownCountry] });
  const toName = ({ name, bic }: ListedBank, id: number) => ({ id, name: name || bic });
  return answerPage({ url, query, pageQuery: { page: query.page }, directory, country, toItem: toName });
}

/**
 * `all`: all banks, or those of a country by its code or name. `search` finds part of a name, or the start of a bank
 * code or BIC; the hosted service is not known to have it.
 */
export function answerAll(
  query: Query,
  directory: BankDirectory,
  url: string,
): Answer<Page<z.infer<typeof bankRecordSchema>>> {
  const text = readText(query, 'country');
  const search = readText(query, 'search');
  if (text === null) return reject({ country: [repeated('country')] });
  if (search === null) return reject({ search: [repeated('search')] });
  const country = text === '' ? undefined : findCountryCode(text);
  if (country === null) return reject({ country: [unknownCountry] });
  return answerPage({ url, query, pageQuery: query, directory, country, search, toItem: toRecord });
}

const unknownCountry = 'Unknown country; use an ISO 3166-1 alpha-2 code such as DE or an English name such as Germany.';

function toRecord(bank: ListedBank): z.infer<typeof bankRecordSchema> {
  const swift_data = toSwiftData(bank);
  const { country, country_code, bank_code } = swift_data;
  return { iban_data: { country, country_code, bank_code }, swift_data };
}

interface PageOptions<Item> {
  url: string;
  query: Query;
  /** The parameters that choose the page. */
  pageQuery: Query;
  directory: BankDirectory;
  country: string | undefined;
  search?: string;
  /** Positions count from 1. */
  toItem: (bank: ListedBank, position: number) => Item;
}

function answerPage<Item>(options: PageOptions<Item>): Answer<Page<Item>> {
  const { url, query, pageQuery, directory, country, search = '', toItem } = options;
  const request = readPageRequest(pageQuery);
  if ('errors' in request) return reject(request.errors);
  const offset = (request.page - 1) * request.perPage;
  const { banks, total } = directory.listBanks({ country, search, offset, first: request.perPage });
  const items = banks.map((bank, index) => toItem(bank, offset + index + 1));
  return answer(createPage(url, query, request, { items, total }));
}
