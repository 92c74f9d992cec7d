import { normalizeForSearch } from '../../../banks/normalize-for-search.ts';
import { GatewayError } from '../../../base/errors.ts';
import type { RequestContext } from '../../request-context.ts';
import type { Bank, BankListRequest, BankPage } from '../bank-data.ts';
import type { CallEndpoint, Endpoint } from './call-endpoint.ts';
import { readServicePage, type ServicePage } from './wire.ts';

/**
 * Reads a range of the list from the service's numbered pages: one call if the range is a page, two if it spans two
 * pages, more if the service's pages are smaller than requested (the hosted service returned ten at a time). All calls
 * have one deadline. If it passes, after ten calls, or if other pages of the request have used up the calls that they
 * share, the page is shorter than requested.
 */
export async function requestBankPage(
  callEndpoint: CallEndpoint,
  { country, search, offset, limit }: BankListRequest,
  context: RequestContext,
): Promise<BankPage> {
  const pagesContext = { ...context, startedAt: performance.now() };
  const requestPage = (page: number, perPage: number) =>
    callEndpoint(
      pages,
      {
        input: null,
        query: {
          ...(country !== null && { country }),
          ...(search !== null && { search }),
          page: String(page),
          per_page: String(perPage),
        },
      },
      pagesContext,
    );

  let page = Math.floor(offset / limit) + 1;
  let calls = 1;
  let answer = await requestPage(page, limit);
  const perPage = answer.perPage ?? limit;
  const firstPage = Math.floor(offset / perPage) + 1;
  if (firstPage !== page) {
    page = firstPage;
    calls += 1;
    answer = await requestPage(page, perPage);
  }
  const range: Bank[] = answer.banks.slice(offset - (page - 1) * perPage);
  let isCutShort = false;
  for (; range.length < limit && calls < maxCalls && hasNextPage(page, answer, perPage); calls += 1) {
    context.furtherPages.calls += 1;
    isCutShort = context.furtherPages.calls > maxFurtherCalls;
    if (isCutShort) break;
    try {
      answer = await requestPage(page + 1, perPage);
    } catch (error) {
      // The page ends with the banks that were received in time.
      isCutShort = range.length > 0 && hasTimedOut(error);
      if (isCutShort) break;
      throw error;
    }
    page += 1;
    range.push(...answer.banks);
  }

  const hasMore = range.length > limit || (range.length > 0 && hasNextPage(page, answer, perPage));
  const banks = range.slice(0, limit).map((bank, index) => ({ bank, offset: offset + index }));
  const words = search === null ? [] : normalizeForSearch(search).split(/\s+/);
  // The hosted service may ignore `search`, so the gateway filters the page itself.
  const found = banks.filter(({ bank }) => hasWords(bank, words));
  return {
    banks: found,
    next: hasMore ? offset + banks.length : null,
    total: found.length === banks.length ? answer.total : null,
    isCutShort,
  };
}

const pages: Endpoint<null, ServicePage> = { path: '/bank_data/all', read: readServicePage, isOptional: true };

/** Maximum number of calls for one page that a client requests: each call is paid for. */
const maxCalls = 10;
/** The same for all pages of a request, without the first call of each page and the call that finds its range. */
const maxFurtherCalls = 9;

/** Whether the deadline has passed: during a call, or in the queue. */
function hasTimedOut(error: unknown): boolean {
  return error instanceof GatewayError && ['UPSTREAM_TIMED_OUT', 'UPSTREAM_UNAVAILABLE'].includes(error.code);
}

function hasNextPage(page: number, { banks, lastPage }: ServicePage, perPage: number): boolean {
  if (banks.length === 0) return false;
  return lastPage === null ? banks.length >= perPage : page < lastPage;
}

function hasWords({ name, bankCode, bic }: Bank, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = normalizeForSearch(`${name ?? ''} ${bankCode ?? ''} ${bic ?? ''}`);
  return words.every((word) => text.includes(word));
}
