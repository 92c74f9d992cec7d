import { onTestFinished } from 'vitest';
import { createBankDataService } from '../../src/bank-data-service/create-bank-data-service.ts';
import type { LlmConfig } from '../../src/base/variables/service-config.ts';
import { createEssayService } from '../../src/essay-service/create-essay-service.ts';
import { createEssayWriter } from '../../src/essay-service/run-essay-service.ts';
import { bankDataKey, essaysKey } from './gateway.ts';
import type { OnFinished } from './process.ts';
import { type Reply, replyJson, tUpstream, type Upstream, type UpstreamCall } from './scripted-upstream.ts';

/** The self-hosted bank-data service on a free port, closed after the test. @returns its URL */
export async function tBankDataService({
  onFinished = onTestFinished,
  ...options
}: {
  dataDir?: string;
  onFinished?: OnFinished;
} = {}): Promise<string> {
  const service = createBankDataService({ apiKey: bankDataKey, ...options });
  onFinished(() => service.close());
  return service.listen({ host: '127.0.0.1', port: 0 });
}

interface TEssayServiceOptions {
  llm?: LlmConfig | null;
  monthlyAllowance?: number | null;
  onFinished?: OnFinished;
}

/** The self-hosted essay service on a free port, with the drafter unless a model is given. @returns its URL */
export async function tEssayService({
  llm = null,
  monthlyAllowance = null,
  onFinished = onTestFinished,
}: TEssayServiceOptions = {}): Promise<string> {
  const service = createEssayService({ apiKey: essaysKey, writer: createEssayWriter(llm), monthlyAllowance });
  onFinished(() => service.close());
  return service.listen({ host: '127.0.0.1', port: 0 });
}

/** A recorded answer of the hosted service. */
export const seenIbanValidation = {
  valid: true,
  message: 'IBAN number is valid.',
  iban: 'DE89370400440532013000',
  iban_data: {
    country: 'Germany',
    country_code: 'DE',
    sepa_country: true,
    checksum: '89',
    BBAN: '370400440532013000',
    bank_code: '37040044',
    account_number: '0532013000',
    branch: '',
    national_checksum: '',
    country_iban_format_as_swift: 'DE2!n8!n10!n',
    country_iban_format_as_regex: '^DE(\\d{2})(\\d{8})(\\d{10})$',
  },
  bank_data: { bank_code: '37040044', name: 'Commerzbank', zip: '50447', city: 'Köln', bic: 'COBADEFFXXX' },
  country_iban_example: 'DE89370400440532013000',
};

const commerzbank = {
  address: 'KAISERPLATZ',
  branch: 'XXX',
  city: 'FRANKFURT AM MAIN',
  country: 'Germany',
  country_code: 'DE',
  name: 'Commerzbank',
  swift: 'COBADEFFXXX',
  zip: '60311',
};

const names = ['Commerzbank', 'Bundesbank', 'Postbank', 'Revolut', 'Qonto', 'Klarna', 'Aareal', 'Tradegate'];

/** The list as the hosted service pages it: at most ten banks a page, whatever the request says. */
function listPage({ query, path }: UpstreamCall): Reply {
  const perPage = Math.min(10, Number(query.get('per_page') ?? 10));
  const page = Number(query.get('page') ?? 1);
  const all = Array.from({ length: 23 }, (_, index) => ({
    iban_data: { country: 'Germany', country_code: 'DE', bank_code: String(10000000 + index) },
    swift_data: {
      ...commerzbank,
      name: `${names[index % names.length]} ${index}`,
      swift: `BANK${'DE'}${index + 10}XXX`,
    },
  }));
  const data = all.slice((page - 1) * perPage, page * perPage);
  const lastPage = Math.ceil(all.length / perPage);
  const url = (number: number) => `http://localhost${path}?page=${number}`;
  return replyJson(200, {
    data,
    links: { first: url(1), last: url(lastPage), prev: null, next: page < lastPage ? url(page + 1) : null },
    meta: {
      current_page: page,
      from: 1,
      last_page: lastPage,
      path,
      per_page: perPage,
      to: data.length,
      total: all.length,
    },
  });
}

const answers: Record<string, (call: UpstreamCall) => Reply> = {
  '/bank_data/iban_validate': ({ query }) => {
    if (query.get('iban_number') === seenIbanValidation.iban) return replyJson(200, seenIbanValidation);
    const message = 'The given data was invalid.';
    return replyJson(422, { message, errors: { iban_number: ['The iban number is invalid.'] } });
  },
  '/bank_data/iban_generate': ({ query }) => {
    const isKnown = query.get('bank_code') === '37040044' && /^0?532013000$/.test(query.get('account_number') ?? '');
    return replyJson(200, isKnown ? seenIbanValidation : { valid: false, message: 'Could not be generated.' });
  },
  '/bank_data/swift_check': ({ query }) => {
    if (query.get('swift_code')?.startsWith('COBADEFF')) return replyJson(200, { valid: true, bank_data: commerzbank });
    return replyJson(200, { valid: false, message: 'SWIFT code is not valid.', bank_data: [] });
  },
  '/bank_data/all': listPage,
};

/** A replay of recorded answers of the hosted service. It has one account, and banks of one country. */
export function tHostedBankData(): Promise<Upstream> {
  return tUpstream((response, call) => replyAsHosted(call)(response, call));
}

export function replyAsHosted(call: UpstreamCall): Reply {
  if (call.headers.apikey !== bankDataKey) return replyJson(401, { message: 'Invalid authentication credentials' });
  return answers[call.path]?.(call) ?? replyJson(404, { message: 'no Route matched with those values' });
}
