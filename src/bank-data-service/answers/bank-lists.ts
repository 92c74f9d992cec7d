import * as z from 'zod';
import type { ListedBank } from '../../banks/listed-bank.ts';
import { findCountryCode } from '../../iban/country-name.ts';
import type { BankDirectory } from '../bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject, repeated } from './answer.ts';
import { swiftDataSchema, toSwiftData } from './swift-codes.ts';

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

/** A page in the format of Laravel: https://laravel.com/docs/pagination#converting-results-to-json */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  const url = z.string().nullable();
  return z.object({
    data: z.array(item).readonly(),
    links: z.object({ first: z.string(), last: z.string(), prev: url, next: url }),
    meta: z.object({
      current_page: z.int(),
      from: z.int().nullable(),
      last_page: z.int(),
      links: z.array(z.object({ url, label: z.string(), active: z.boolean() })).readonly(),
      path: z.string(),
      per_page: z.int(),
      to: z.int().nullable(),
      total: z.int(),
    }),
  });
}

export type Page<Item> = Omit<z.infer<ReturnType<typeof pageSchema>>, 'data'> & { data: readonly Item[] };

interface PageRequest {
  page: number;
  perPage: number;
}

/** Reads `page` and `per_page`, or returns their problems. */
function readPageRequest(query: Query): PageRequest | { errors: Record<string, readonly string[]> } {
  const page = readNumber(query, 'page', 1, maxPage);
  const perPage = readNumber(query, 'per_page', defaultPerPage, maxPerPage);
  if (typeof page === 'number' && typeof perPage === 'number') return { page, perPage };
  return {
    errors: {
      ...(typeof page === 'string' && { page: [page] }),
      ...(typeof perPage === 'string' && { per_page: [perPage] }),
    },
  };
}

/** Creates a page whose links repeat all parameters of the request. */
function createPage<Item>(
  url: string,
  query: Query,
  { page, perPage }: PageRequest,
  { items, total }: { items: readonly Item[]; total: number },
): Page<Item> {
  const lastPage = Math.max(1, Math.ceil(total / perPage));
  const link = (number: number) => `${url}?${new URLSearchParams({ ...textsOf(query), page: String(number) })}`;
  const previous = page > 1 ? link(Math.min(page - 1, lastPage)) : null;
  const next = page < lastPage ? link(page + 1) : null;
  const from = items.length > 0 ? (page - 1) * perPage + 1 : null;
  return {
    data: items,
    links: { first: link(1), last: link(lastPage), prev: previous, next },
    meta: {
      current_page: page,
      from,
      last_page: lastPage,
      links: [
        { url: previous, label: 'Previous', active: false },
        { url: link(page), label: String(page), active: true },
        { url: next, label: 'Next', active: false },
      ],
      path: url,
      per_page: perPage,
      to: from === null ? null : from + items.length - 1,
      total,
    },
  };
}

/** As observed from the hosted service. */
const defaultPerPage = 10;
const maxPerPage = 100;
const maxPage = 1_000_000;

/** A number, or the problem of the parameter. */
function readNumber(query: Query, name: string, fallback: number, max: number): number | string {
  const text = readText(query, name);
  if (text === '') return fallback;
  const number = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= max ? number : `${name} must be a whole number from 1 to ${max}.`;
}

function textsOf(query: Query): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
