import * as z from 'zod';
import { type Query, readText } from './answer.ts';

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
export function readPageRequest(query: Query): PageRequest | { errors: Record<string, readonly string[]> } {
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
export function createPage<Item>(
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
