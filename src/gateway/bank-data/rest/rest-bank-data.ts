import { normalizeForSearch } from '../../../banks/normalize-for-search.ts';
import { GatewayError } from '../../../base/errors.ts';
import { findBicProblems } from '../../../iban/bic.ts';
import type { IbanFieldValues, IbanRuleState } from '../../../iban/build-iban.ts';
import { compactIban, isValidIban } from '../../../iban/iban.ts';
import type { RequestContext } from '../../request-context.ts';
import type { CallCause } from '../../telemetry/events.ts';
import type { Batch } from '../../upstream/batch.ts';
import type { Endpoint, Outcome, Received } from '../../upstream/outcome.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
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
import type { SharedEpochs } from '../epochs.ts';
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

/** Receives the answer of a look-up; or null, and why there is none. */
export type SettleLookUp<Answer> = (answer: Answer | null, failure: unknown) => void;
/** Looks an answer up, and settles it once. */
export type LookUp<Answer> = (input: string, call: LookUpCall, settle: SettleLookUp<Answer>) => void;
export interface LookUpCall {
  batch: Batch;
  cause: CallCause;
}

interface RestBankDataOptions {
  client: Pick<UpstreamClient, 'call'>;
  events: UpstreamErrorEvents;
  epochs: Pick<SharedEpochs, 'report'>;
}

/** The bank-data service over REST. It has no batches: one call per IBAN or BIC. */
export function createRestBankData({ client, events, epochs }: RestBankDataOptions) {
  const lookUpAt =
    <Input, Answer>(endpoint: BankEndpoint<Input, Answer>) =>
    (input: Input, call: LookUpCall, settle: SettleLookUp<Answer>): void =>
      client.call(endpoint, input, call, (outcome) => settleWith(endpoint, input, outcome, settle));
  const listPage = lookUpAt(pages);

  return {
    validateIban: lookUpAt(ibanValidation),
    validateBic: lookUpAt(bicValidation),
    generateIban: lookUpAt(ibanGeneration),
    listBanks(
      listing: BankListRequest,
      furtherPages: RequestContext['furtherPages'],
      call: LookUpCall,
      settle: SettleLookUp<BankPage>,
    ): void {
      const request = (query: Query) =>
        new Promise<ServicePage>((resolve, reject) =>
          listPage(query, call, (page, failure) => (page === null ? reject(failure) : resolve(page))),
        );
      requestBankPage(request, listing, furtherPages).then(
        (page) => settle(page, null),
        (failure) => settle(null, failure),
      );
    },
  };

  /** Settles with a GatewayError if the outcome contains no readable answer, or with the reason of a caller who has left. */
  function settleWith<Input, Answer>(
    { answer422, isOptional = false }: BankEndpoint<Input, Answer>,
    input: Input,
    outcome: Outcome<Answer>,
    settle: SettleLookUp<Answer>,
  ) {
    if (outcome.kind === 'abandoned') return settle(null, outcome.reason);
    if (outcome.kind === 'answered') {
      const { status, headers, value } = outcome;
      if (headers.dataVersion !== undefined) epochs.report(headers.dataVersion);
      if (value !== null) return settle(value, null);
      if (status === 422 && answer422 !== undefined) return settle(answer422(input), null);
      if (status === 403 && isOptional) return settle(null, createNotOfferedError('bank-data'));
    }
    settle(null, toUpstreamError('bank-data', outcome, events));
  }
}

type Query = Readonly<Record<string, string>>;

interface BankEndpoint<Input, Answer> extends Endpoint<Input, Answer> {
  /** Called on 422: invalid input is a regular answer, not an error. */
  answer422?: (input: Input) => Answer;
  /** Some plans and hosts do not offer this endpoint: then 403 does not mean that the key was rejected. */
  isOptional?: boolean;
}

/** What all endpoints have in common. */
const ofBankData = {
  method: 'GET',
  findFault: ({ json, text }: Received) => findAnswerFault(json ?? text),
} as const;

/** Some services do not decode a plus sign. */
function encodeQuery(query: Query): string {
  return new URLSearchParams(query).toString().replaceAll('+', '%20');
}

/** The contract does not say whether an invalid IBAN gets 200 or 422, so both are accepted. */
const ibanValidation: BankEndpoint<string, IbanValidation> = {
  ...ofBankData,
  path: '/bank_data/iban_validate',
  // A compacted IBAN has only letters and digits.
  writeQuery: (iban) => `iban_number=${iban}`,
  isAbout: isAboutIban,
  read: ({ status, json }, iban) => (status === 200 ? readIbanAnswer(json, iban) : null),
  answer422: toRejectedIban,
};

const bicValidation: BankEndpoint<string, BicValidation> = {
  ...ofBankData,
  path: '/bank_data/swift_check',
  writeQuery: (bic) => `swift_code=${bic}`,
  isAbout: isAboutBic,
  read({ status, json }, bic) {
    const answer = status === 200 ? readBicAnswer(json) : null;
    return answer && toBicValidation(bic, answer);
  },
  answer422: (bic) => toBicValidation(bic, { valid: false, bank: null }),
  isOptional: true,
};

function toBicValidation(bic: string, { valid, bank }: Pick<BicValidation, 'valid' | 'bank'>): BicValidation {
  return { bic, valid, problems: valid ? [] : orRejected(findBicProblems(bic)), bank };
}

/** The fields of an IBAN, the one that the gateway has computed from them, and what it knows of the rule of the bank. */
interface GeneratedIban {
  values: IbanFieldValues;
  iban: string;
  rule: IbanRuleState;
}

/**
 * Another IBAN than the expected one, or none, is unreadable if it is reported as valid: it is that of another account, unless the
 * service applied a rule of the bank that the gateway does not know.
 */
const ibanGeneration: BankEndpoint<GeneratedIban, IbanGeneration> = {
  ...ofBankData,
  path: '/bank_data/iban_generate',
  writeQuery: ({ values }) => encodeQuery(toGenerationQuery(values)),
  read({ status, json }, expected) {
    if (status !== 200) return null;
    const iban = compactIban(readIban(json) ?? '');
    const answer = readIbanAnswer(json, iban);
    if (answer === null) return null;
    if (!answer.valid) return invalidFields;
    const ibanRule = readIbanRule(json);
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
  request: (query: Query) => Promise<ServicePage>,
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
  for (; range.length < limit && calls < maxCallsPerPage && hasNextPage(page, answer, perPage); calls += 1) {
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

const pages: BankEndpoint<Query, ServicePage> = {
  ...ofBankData,
  path: '/bank_data/all',
  writeQuery: encodeQuery,
  read: ({ status, json }) => (status === 200 ? readServicePage(json) : null),
  isOptional: true,
};

/** Maximum number of calls for one page that a client requests: each call is paid for. */
export const maxCallsPerPage = 10;
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
