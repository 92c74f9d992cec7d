import { afterAll, describe, expect, it } from 'vitest';
import { createBankDataService } from '../../src/bank-data-service/create-bank-data-service.ts';
import { routes } from '../../src/bank-data-service/routes.ts';
import { type IbanParts, parseIban } from '../../src/iban/iban.ts';
import { countryFormats } from '../../src/iban/registry.ts';
import { accountNumberOf } from '../support/ibans.ts';

/* All endpoints except iban_validate: their results, and that these match the OpenAPI document. */

const apikey = 'right-key';

const service = createBankDataService({ apiKey: apikey });
afterAll(() => service.close());

async function get(endpoint: string, query: Record<string, string> | string = {}) {
  const url = `/bank_data/${endpoint}?${typeof query === 'string' ? query : new URLSearchParams(query)}`;
  const response = await service.inject({ url, headers: { apikey } });
  const body = response.json();
  const route = routes.find(({ path }) => path === `/bank_data/${endpoint}`);
  // The result has exactly the described fields.
  if (response.statusCode === 200) expect(route?.body.parse(body)).toEqual(body);
  return { status: response.statusCode, body };
}

describe('swift_check', () => {
  it('returns the bank of a SWIFT code', async () => {
    const { status, body } = await get('swift_check', { swift_code: 'cobade ff' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      valid: true,
      message: 'SWIFT code is valid.',
      bank_data: { country: 'Germany', country_code: 'DE', swift: 'COBADEFFXXX', branch: 'XXX', zip: '', address: '' },
    });
    expect(body.bank_data.name).toContain('Commerzbank');
    expect(body.bank_data.source).toContain('Bundesbank');
    expect(body.bank_data.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('returns empty bank data for one that no list contains, and reports that one is for testing only', async () => {
    const { body } = await get('swift_check', { swift_code: 'ZZZZUS33' });
    expect(body.valid).toBe(true);
    expect(new Set(Object.values(body.bank_data))).toEqual(new Set(['']));
    const { body: test } = await get('swift_check', { swift_code: 'COBADEF0' });
    expect(test.message).toBe('SWIFT code is valid, for testing only.');
  });
});

describe('iban_structure and iban_fields', () => {
  it.each(countryFormats().map(({ country }) => country))('return the format of %s', async (country) => {
    const { body } = await get('iban_structure', { country });
    expect(body.country_code).toBe(country);
    expect(body.country_iban_example).toMatch(new RegExp(body.country_iban_format_as_regex));
    expect(body.country_iban_example).toHaveLength(body.length);
    expect((await get('iban_fields', { country })).body).toEqual({ fields: body.fields });
  });

  it('accept the name of a country', async () => {
    expect((await get('iban_fields', { country: 'germany' })).body.fields).toEqual([
      { field: 'bank_code', length: 8, characters: 'digits' },
      { field: 'account_number', length: 10, characters: 'digits' },
    ]);
  });
});

describe('iban_generate', () => {
  it.each(countryFormats().map(({ country, example }) => [country, example]))(
    'generates the example of %s from its own parts',
    async (country, example) => {
      const parts = parseIban(example) as IbanParts;
      const { status, body } = await get('iban_generate', {
        country,
        bank_code: parts.bankCode,
        ...(parts.branch && { branch: parts.branch }),
        account_number: accountNumberOf(parts),
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ valid: true, iban: example });
    },
  );

  it.each([
    ['applied', '50050201', '2000', 'DE42500502010000222000', 'APPLIED'],
    ['known not to exist', '10010010', '1234567', 'DE28100100100001234567', 'NONE'],
    ['not known', '99999999', '1234567', 'DE85999999990001234567', 'UNKNOWN'],
  ])('says that the rule of a German bank is %s', async (_, bank_code, account_number, iban, iban_rule) => {
    const { body } = await get('iban_generate', { country: 'DE', bank_code, account_number });
    expect(body).toMatchObject({ valid: true, iban, iban_rule });
  });

  it('reports an account without IBAN, and a rule that is not implemented', async () => {
    const generate = (bank_code: string) =>
      get('iban_generate', { country: 'DE', bank_code, account_number: '0000000117' });
    expect((await generate('10070000')).body.errors).toEqual({
      account_number: ['The account number has no IBAN, by IBAN rule 002002 of its bank.'],
    });
    const message =
      'The bank code has IBAN rule 005600, which is not implemented for this account; ask the bank for the IBAN.';
    expect((await generate('38010111')).body.errors).toEqual({ bank_code: [message] });
  });

  it('reports all problems, by parameter', async () => {
    const { status, body } = await get('iban_generate', { country: 'DE', bank_code: '1', branch: '2' });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(['bank_code', 'branch', 'account_number']);
    for (const [name, [message]] of Object.entries(body.errors as Record<string, string[]>)) {
      expect(message?.startsWith(`The ${name.replace('_', ' ')} `)).toBe(true);
    }
  });

  it('reports several problems of one parameter, and an IBAN of a territory', async () => {
    const bank = { bank_code: '117', branch: '7301', account_number: '51111101800000001' };
    const { body } = await get('iban_generate', { country: 'HU', ...bank });
    expect(body.errors).toEqual({
      account_number: [
        'The account number begins with a check digit that does not match; it would be 6.',
        'The account number ends in a check digit that does not match; it would be 0.',
      ],
    });
    const { body: jersey } = await get('iban_generate', { country: 'Jersey', ...bank });
    expect(jersey.errors.country).toEqual(['The country is JE, whose banks use IBANs of GB; use GB.']);
  });
});

describe('banks_by_country', () => {
  it('lists names, ten per page, with links to other pages, and none after the last', async () => {
    const { body: first } = await get('banks_by_country', { country_code: 'DE' });
    expect(first.data).toHaveLength(10);
    expect(first.data[0]).toEqual({ id: 1, name: expect.stringMatching(/./) });
    expect(first.meta).toMatchObject({ current_page: 1, from: 1, to: 10, per_page: 10 });
    expect(first.links.prev).toBeNull();
    const { body: second } = await get('banks_by_country', new URL(first.links.next).search.slice(1));
    expect(second.meta).toMatchObject({ current_page: 2, from: 11, to: 20, total: first.meta.total });
    expect(second.data[0].id).toBe(11);
    const { body: last } = await get('banks_by_country', new URL(first.links.last).search.slice(1));
    expect(last.links.next).toBeNull();
    expect(last.meta.to).toBe(last.meta.total);
    const { body: beyond } = await get('banks_by_country', { country_code: 'DE', page: '9999' });
    expect(beyond).toMatchObject({
      data: [],
      meta: { from: null, to: null, current_page: 9999 },
      links: { next: null },
    });
  });
});

describe('all', () => {
  it('lists the banks of a country by its code or its name, and otherwise of all', async () => {
    const { body } = await get('all', { country: 'Austria', per_page: '3' });
    expect(body.data).toHaveLength(3);
    for (const { iban_data, swift_data } of body.data) {
      expect(iban_data).toMatchObject({ country: 'Austria', country_code: 'AT' });
      expect(swift_data.swift).toMatch(/^[A-Z0-9]{4}[A-Z]{2}/);
    }
    expect((await get('all', { country: 'AT', per_page: '3' })).body.data).toEqual(body.data);
    expect((await get('all')).body.meta.total).toBeGreaterThan(body.meta.total);
  });

  it('finds part of a name, ignoring case and accents', async () => {
    const { body } = await get('all', { country: 'DE', search: 'SPARKASSE koln', per_page: '100' });
    expect(body.data.length).toBeGreaterThan(0);
    for (const { swift_data } of body.data) expect(swift_data.name).toMatch(/sparkasse.*k(ö|oe|o)ln/i);
    expect(body.links.first).toContain('search=SPARKASSE+koln');
  });
});

describe('parameters are rejected', () => {
  const wrongSwiftCountry = 'The fifth and sixth characters of a SWIFT code must be a country code; here they are not.';

  it.each<[string, Record<string, string | null>]>([
    ['swift_check', { swift_code: 'swift_code is missing.' }],
    ['swift_check?swift_code=%20', { swift_code: 'swift_code is missing.' }],
    ['swift_check?swift_code=COBADEFF&swift_code=COBADEFF', { swift_code: 'swift_code must be given only once.' }],
    ['swift_check?swift_code=COBADEF', { swift_code: 'A SWIFT code has 8 or 11 characters; this one does not.' }],
    ['swift_check?swift_code=COBAQQFF', { swift_code: wrongSwiftCountry }],
    [
      'swift_check?swift_code=COBADEF%C3%9F',
      { swift_code: 'A SWIFT code consists of the letters A to Z and the digits 0 to 9 only.' },
    ],
    ...['iban_structure', 'iban_fields'].flatMap((endpoint) =>
      ['country=US', 'country=QQ', 'country=Nowhere', '', 'country=DE&country=FR'].map(
        (query): [string, { country: null }] => [`${endpoint}?${query}`, { country: null }],
      ),
    ),
    ['iban_generate?country=DE&bank_code=1&bank_code=2', { bank_code: 'bank_code must be given only once.' }],
    ['banks_by_country?country_code=', { country_code: null }],
    ['banks_by_country?country_code=QQ', { country_code: null }],
    ['banks_by_country?country_code=DE&page=0', { page: null }],
    ['banks_by_country?country_code=DE&page=x', { page: null }],
    ['all?per_page=101', { per_page: null }],
    ['all?page=-1&per_page=0', { page: null, per_page: null }],
    ['all?country=QQ', { country: null }],
    ['all?search=a&search=b', { search: null }],
  ])('%s', async (url, messages) => {
    const [endpoint = '', query] = url.split('?');
    const { status, body } = await get(endpoint, query);
    expect(status).toBe(422);
    const errors = Object.entries(messages).map(([name, message]) => [name, [message ?? expect.any(String)]]);
    expect(body).toEqual({ message: Object.values(body.errors).flat().join(' '), errors: Object.fromEntries(errors) });
  });
});

it('every endpoint is documented at /openapi.json, which needs no key', async () => {
  const document = (await service.inject({ url: '/openapi.json' })).json();
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toEqual(routes.map(({ path }) => path));
  for (const { path, parameters } of routes) {
    const { get } = document.paths[path];
    expect(get.parameters.map(({ name }: { name: string }) => name)).toEqual(Object.keys(parameters));
    expect(Object.keys(get.responses)).toEqual(['200', '401', '422']);
    expect(get.responses['200'].content['application/json'].schema.type).toBe('object');
  }
  expect(document.components.securitySchemes.apikey).toEqual({ type: 'apiKey', in: 'header', name: 'apikey' });
  expect(JSON.stringify(document)).not.toContain(apikey);
});
