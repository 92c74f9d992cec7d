import { normalizeForSearch } from '../../../banks/normalize-for-search.ts';
import { GatewayError } from '../../../base/errors.ts';
import { findBicProblems } from '../../../iban/bic.ts';
import type { IbanFieldValues, IbanRuleState } from '../../../iban/build-iban.ts';
import { compactIban, isValidIban } from '../../../iban/iban.ts';
import type { RequestContext } from '../../request-context.ts';
import type { UpstreamRequest } from '../../upstream/outcome.ts';
import type { UpstreamCalls } from '../../upstream/upstream-client.ts';
import {
  createNotOfferedError,
  findAnswerFault,
  toUpstreamError,
  type UpstreamErrorEvents,
} from '../../upstream/upstream-error.ts';
import type {
  BankData,
  BankListRequest,
  BankPage,
  BicValidation,
  IbanGeneration,
  IbanValidation,
} from '../bank-data.ts';
import { type DataVersion, dataVersionHeader } from '../data-version.ts';
import {
  isAboutBic,
  isAboutIban,
  orRejected,
  readBicAnswer,
  readIban,
  readIbanAnswer,
  readIbanRule,
  readServicePage,
  type ServicePage,
  toRejectedIban,
} from './wire.ts';

export type RestBankData = ReturnType<typeof createRestBankData>;

/** The bank-data service over REST. It has no batches: one call per IBAN or BIC. */
export function createRestBankData(events: UpstreamErrorEvents, dataVersion: Pick<DataVersion, 'report'>) {
  return {
    validateIban: (calls: UpstreamCalls, iban: string) =>
      callEndpoint(calls, ibanValidation, iban, { iban_number: iban }),
    validateBic: (calls: UpstreamCalls, bic: string) => callEndpoint(calls, bicValidation, bic, { swift_code: bic }),
    generateIban: (calls: UpstreamCalls, values: IbanFieldValues, expected: ExpectedIban) =>
      callEndpoint(calls, ibanGeneration, expected, toGenerationQuery(values)),
    listBanks: (calls: UpstreamCalls, listing: BankListRequest, furtherPages: RequestContext['furtherPages']) =>
      requestBankPage((query) => callEndpoint(calls, pages, null, query), listing, furtherPages),
  };

  /** Rejects with a GatewayError if the outcome contains no readable answer. */
  async function callEndpoint<Input, Answer>(
    { send }: UpstreamCalls,
    { path, isAbout, read, answer422, isOptional = false }: Endpoint<Input, Answer>,
    input: Input,
    query: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    let answer: Answer | null = null;
    const findFault: UpstreamRequest['findFault'] = ({ status, text, json }) => {
      if (status === 200 && isAbout?.(json, input) === false) return 'mismatched';
      answer = status === 200 ? read(json, input) : null;
      return answer === null ? findAnswerFault(json ?? text) : null;
    };
    const outcome = await send({ method: 'GET', path, query, findFault });
    if (outcome.kind === 'answered') {
      const { status, headers, fault } = outcome;
      const version = headers[dataVersionHeader];
      if (typeof version === 'string') dataVersion.report(version);
      if (status === 422 && answer422 !== undefined) return answer422(input);
      if (status === 403 && isOptional) throw createNotOfferedError('bank-data');
      if (answer !== null && fault === null) return answer;
    }
    throw toUpstreamError('bank-data', outcome, events);
  }
}

/** What is the same for all calls of an endpoint. */
interface Endpoint<Input, Answer> {
  path: `/bank_data/${'iban_validate' | 'iban_generate' | 'swift_check' | 'all'}`;
  /** Whether the body of a 200 is about this input, as far as it says so. */
  isAbout?: (body: unknown, input: Input) => boolean;
  /** Null if the body does not have the expected shape. */
  read: (body: unknown, input: Input) => Answer | null;
  /** Called on 422: invalid input is a regular answer, not an error. */
  answer422?: (input: Input) => Answer;
  /** Some plans and hosts do not offer this endpoint: then 403 does not mean that the key was rejected. */
  isOptional?: boolean;
}

/** The contract does not say whether an invalid IBAN gets 200 or 422, so both are accepted. */
const ibanValidation: Endpoint<string, IbanValidation> = {
  path: '/bank_data/iban_validate',
  isAbout: isAboutIban,
  read: readIbanAnswer,
  answer422: toRejectedIban,
};

const bicValidation: Endpoint<string, BicValidation> = {
  path: '/bank_data/swift_check',
  isAbout: isAboutBic,
  read(body, bic) {
    const answer = readBicAnswer(body);
    return answer && toBicValidation(bic, answer);
  },
  answer422: (bic) => toBicValidation(bic, { valid: false, bank: null }),
  isOptional: true,
};

function toBicValidation(bic: string, { valid, bank }: Pick<BicValidation, 'valid' | 'bank'>): BicValidation {
  return { bic, valid, problems: valid ? [] : orRejected(findBicProblems(bic)), bank };
}

/** The IBAN that the gateway has computed, and what it knows of the rule of the bank. */
interface ExpectedIban {
  iban: string;
  rule: IbanRuleState;
}

/**
 * Another IBAN than the expected one, or none, is unreadable if it is reported as valid: it is that of another account, unless the
 * service applied a rule of the bank that the gateway does not know.
 */
const ibanGeneration: Endpoint<ExpectedIban, IbanGeneration> = {
  path: '/bank_data/iban_generate',
  read(body, expected) {
    const iban = compactIban(readIban(body) ?? '');
    const answer = readIbanAnswer(body, iban);
    if (answer === null) return null;
    if (!answer.valid) return invalidFields;
    const ibanRule = readIbanRule(body);
    const isByRule =
      expected.rule === 'UNKNOWN' && ibanRule === 'APPLIED' && isValidIban(iban) && iban.startsWith('DE');
    return iban === expected.iban || isByRule ? { kind: 'iban', validation: { ...answer, ibanRule } } : null;
  },
  answer422: () => invalidFields,
  isOptional: true,
};

function toGenerationQuery({ country, bankCode, branch, accountNumber }: IbanFieldValues): Record<string, string> {
  const query = { country, bank_code: bankCode, branch, account_number: accountNumber };
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

export const invalidFields: IbanGeneration = {
  kind: 'invalid',
  message:
    'The bank-data service cannot generate an IBAN from these fields. Check the bank code and the account number.',
  problems: [],
  suggestions: [],
};

/**
 * Reads a range of the list from the service's numbered pages: one call if the range is a page, two if it spans two
 * pages, more if the service's pages are smaller than requested (the hosted service returned ten at a time). All calls
 * have one deadline. If it passes, after ten calls, or if other pages of the request have used up the calls that they
 * share, the page is shorter than requested.
 */
async function requestBankPage(
  request: (query: Readonly<Record<string, string>>) => Promise<ServicePage>,
  { country, search, offset, limit }: BankListRequest,
  furtherPages: RequestContext['furtherPages'],
): Promise<BankPage> {
  const requestPage = (page: number, perPage: number) =>
    request({
      ...(country !== null && { country }),
      ...(search !== null && { search }),
      page: String(page),
      per_page: String(perPage),
    });

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
  const range: BankData[] = answer.banks.slice(offset - (page - 1) * perPage);
  let isCutShort = false;
  for (; range.length < limit && calls < maxCalls && hasNextPage(page, answer, perPage); calls += 1) {
    furtherPages.calls += 1;
    isCutShort = furtherPages.calls > maxFurtherCalls;
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

function hasWords({ name, bankCode, bic }: BankData, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = normalizeForSearch(`${name ?? ''} ${bankCode ?? ''} ${bic ?? ''}`);
  return words.every((word) => text.includes(word));
}
