import { normalizeForSearch } from '../../bank-lists/normalize-for-search.ts';
import type { Bank, BankListing, BankPage } from '../bank-data.ts';
import type { Ask } from './endpoint-call.ts';
import { readBankPage, type WirePage } from './wire-bank.ts';

/**
 * Reads a window of the list from the service's numbered pages: one call where the window is a page, two where it lies
 * across two, more where the service's pages are smaller than asked for (the hosted one was seen with ten).
 */
export async function listBanks(ask: Ask, { country, search, offset, limit }: BankListing): Promise<BankPage> {
  const askPage = (page: number, perPage: number) =>
    ask<WirePage>({
      endpoint: 'all',
      query: {
        ...(country !== null && { country }),
        ...(search !== null && { search }),
        page: String(page),
        per_page: String(perPage),
      },
      read: readBankPage,
      isOptional: true,
    });

  let page = Math.floor(offset / limit) + 1;
  let answer = await askPage(page, limit);
  const perPage = answer.perPage ?? limit;
  const firstPage = Math.floor(offset / perPage) + 1;
  if (firstPage !== page) {
    page = firstPage;
    answer = await askPage(page, perPage);
  }
  const window: Bank[] = answer.banks.slice(offset - (page - 1) * perPage);
  while (window.length < limit && hasPageAfter(page, answer, perPage)) {
    page += 1;
    answer = await askPage(page, perPage);
    window.push(...answer.banks);
  }

  const hasMore = window.length > limit || hasPageAfter(page, answer, perPage);
  const banks = window.slice(0, limit).map((bank, index) => ({ bank, offset: offset + index }));
  const found = search === null ? banks : banks.filter(({ bank }) => matches(bank, search));
  return {
    banks: found,
    next: hasMore ? offset + limit : null,
    total: found.length === banks.length ? answer.total : null,
  };
}

function hasPageAfter(page: number, { banks, lastPage }: WirePage, perPage: number): boolean {
  if (banks.length === 0) return false;
  return lastPage === null ? banks.length >= perPage : page < lastPage;
}

/** The hosted service is not known to search; where it answers with banks that were not asked for, they are left out. */
function matches({ name, bankCode, bic }: Bank, search: string): boolean {
  const text = normalizeForSearch(`${name ?? ''} ${bankCode ?? ''} ${bic ?? ''}`);
  return normalizeForSearch(search)
    .split(/\s+/)
    .every((word) => text.includes(word));
}
