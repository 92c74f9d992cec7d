import { describe, expect, it, vi } from 'vitest';
import vectors from '../../data/iban-vectors.json' with { type: 'json' };
import { bankDataKey, tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { ibanOfBank } from '../../support/ibans.ts';
import { replyFailingFor, replyInWaves, replyJson, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';
import { seenIbanValidation, tBankDataService } from '../../support/self-hosted.ts';

const everything = `valid iban problems
  ibanData { country countryCode sepaCountry checksum bban bankCode accountNumber branch nationalChecksum
             countryIbanFormatAsSwift countryIbanFormatAsRegex }
  bankData { bankCode name zip city bic } countryIbanExample`;

const expectedGerman = {
  valid: true,
  iban: 'DE89370400440532013000',
  problems: [],
  ibanData: {
    country: 'Germany',
    countryCode: 'DE',
    sepaCountry: true,
    checksum: '89',
    bban: '370400440532013000',
    bankCode: '37040044',
    accountNumber: '0532013000',
    branch: null,
    nationalChecksum: null,
    countryIbanFormatAsSwift: 'DE2!n8!n10!n',
    countryIbanFormatAsRegex: '^DE(\\d{2})(\\d{8})(\\d{10})$',
  },
  bankData: { bankCode: '37040044', name: 'Commerzbank', zip: '50447', city: 'Köln', bic: 'COBADEFFXXX' },
  countryIbanExample: 'DE89370400440532013000',
};

const germanQuery = `{ ibanValidation(iban: "DE89 3704 0044 0532 0130 00") { ${everything} } }`;

describe('bankCodeStatus', () => {
  const query = (iban: string) => `{ ibanValidation(iban: "${iban}") { valid bankCodeStatus bankData { name } } }`;
  const unlisted = 'DE57000000000532013000';

  it.each([
    ['a listed bank code', 'DE89370400440532013000', 'LISTED'],
    ['an unlisted one', unlisted, 'NOT_LISTED'],
    ['an unlisted one of a country whose list is incomplete', 'FR7699999999999999999999944', 'UNKNOWN'],
    ['a country without a list', 'MT84MALT011000012345MTLCAST001S', 'UNKNOWN'],
    ['an unlisted one of a list that is out of date', ibanOfBank('GR', '999'), 'UNKNOWN'],
    ['what is no IBAN', 'DE', 'UNKNOWN'],
  ])('of %s', async (_, iban, expected) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-25') });
    const { ask } = await tScriptedGateway(replyJson(200, { valid: true, bank_data: null }));
    const { data } = await ask(query(iban));
    expect(data?.ibanValidation).toMatchObject({ valid: iban !== 'DE', bankCodeStatus: expected, bankData: null });
  });
});

describe('bankData', () => {
  it('says where the record and its BIC are from', async () => {
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const { data } = await ask(`fragment origin on BankData { bic bicSource source date }
      { corrected: ibanValidation(iban: "${ibanOfBank('FR', '30066')}") { bankData { ...origin } }
      british: ibanValidation(iban: "GB29NWBK60161331926819") { bankData { ...origin } }
      bank(bic: "COBADEFF") { bicSource source } }`);
    expect(data?.corrected?.bankData).toMatchObject({ bic: 'CMCIFRPPXXX', bicSource: 'CORRECTED', date: '2026-05-06' });
    const source = 'list of volunteers, via schwifty';
    expect(data?.british?.bankData).toEqual({ bic: 'NWBKGB2LXXX', bicSource: 'CURATED', source, date: '2026-03-03' });
    expect(data?.bank).toEqual({ bicSource: 'NATIONAL_LIST', source: 'Deutsche Bundesbank, via bankdata-germany' });
  });

  it('says whether a bank has closed, and which one took it over', async () => {
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const { data } = await ask(`{ closed: ibanValidation(iban: "ES3400100001000000000000") {
      bankData { status successor } } open: ibanValidation(iban: "DE89370400440532013000") { bankData { status successor } } }`);
    expect(data?.closed?.bankData).toEqual({ status: 'DELETED', successor: '0182' });
    expect(data?.open?.bankData).toEqual({ status: 'LISTED', successor: null });
  });
});

describe('ibanValidation', () => {
  it('returns a recorded answer of the hosted service in schema terms', async () => {
    const { ask } = await tScriptedGateway(replyJson(200, seenIbanValidation));
    expect(await ask(germanQuery)).toEqual({ data: { ibanValidation: expectedGerman } });
  });

  it('returns the same from the self-hosted service, except zip and city, which its directory does not have', async () => {
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const bankData = { ...expectedGerman.bankData, zip: null, city: null };
    expect(await ask(germanQuery)).toEqual({ data: { ibanValidation: { ...expectedGerman, bankData } } });
  });

  it('sends the normalized IBAN, and the key only in a header', async () => {
    const upstream = await tUpstream(replyJson(200, seenIbanValidation));
    const { ask } = tGateway({ bankDataUrl: `${upstream.url}/v1` });
    await ask(germanQuery);
    const [call] = upstream.calls;
    expect(call).toMatchObject({ method: 'GET', path: '/v1/bank_data/iban_validate', body: '' });
    expect(Object.fromEntries(call?.query ?? [])).toEqual({ iban_number: 'DE89370400440532013000' });
    expect(call?.headers.apikey).toBe(bankDataKey);
  });

  it.each([
    ['200 and valid: false', replyJson(200, { ...seenIbanValidation, valid: false })],
    ['422', replyJson(422, { message: 'no', errors: { iban_number: ['no'] } })],
  ])('returns an IBAN that the service reports as not valid by %s as data', async (_, reply) => {
    const { ask } = await tScriptedGateway(reply);
    const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid problems countryIbanExample } }';
    expect(await ask(query)).toEqual({
      data: {
        ibanValidation: {
          valid: false,
          problems: ['REJECTED_BY_SERVICE'],
          countryIbanExample: 'DE89370400440532013000',
        },
      },
    });
  });

  it('shows no IBAN in GraphQL’s own error messages', async () => {
    const gateway = tGateway();
    for (const query of [
      '{ ibanValidation(iban: DE89370400440532013000) { valid } }',
      '{ ibanValidation(iban: "DE89370400440532013000) { valid } }',
      'query ($iban: Int!) { ibanValidation(iban: $iban) { valid } }',
    ]) {
      const answer = await gateway.ask(query, { iban: 'DE89370400440532013000' });
      expect(answer.errors).toHaveLength(1);
      expect(JSON.stringify(answer)).not.toContain('DE89370400440532013000');
    }
    expect(gateway.log()).not.toContain('DE89370400440532013000');
  });
});

describe('ibanValidations', () => {
  const listQuery = 'query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }';
  const twentyFive = vectors.valid
    .filter(({ scope }) => scope === 'registry')
    .slice(0, 25)
    .map(({ iban }) => iban);

  function reformat(iban: string): string {
    return ` ${iban.toLowerCase().replace(/(.{4})/g, '$1 ')}`;
  }

  it('makes 25 calls, 16 at a time, for 50 IBANs of which half are repeats, and keeps their order', async () => {
    const { ask, upstream } = await tScriptedGateway(replyInWaves(16, 25, replyWithIban), {
      UPSTREAM_CONCURRENCY: '16',
    });
    const ibans = twentyFive.flatMap((iban) => [iban, reformat(iban)]);
    const { data, errors } = await ask(listQuery, { ibans });
    expect(errors).toBeUndefined();
    expect(data?.ibanValidations).toEqual(
      twentyFive.flatMap((iban) => [iban, iban]).map((iban) => ({ iban, valid: true })),
    );
    expect(upstream.calls).toHaveLength(25);
    expect(upstream.mostInFlight).toBe(16);
    expect(new Set(upstream.calls.map(({ headers }) => headers.apikey))).toEqual(new Set([bankDataKey]));
  });

  it('returns each result at the position of its IBAN, also of one that fails, is repeated, wrong or too long', async () => {
    const [first = '', second = ''] = twentyFive;
    const { ask, upstream } = await tScriptedGateway(replyFailingFor(second, replyWithIban));
    const ibans = [first, second, reformat(first), '7'.repeat(65), 'no IBAN'];
    const { data, errors } = await ask(listQuery, { ibans });
    expect(data?.ibanValidations).toEqual([
      { iban: first, valid: true },
      { iban: second, valid: null },
      { iban: first, valid: true },
      null,
      { iban: 'NOIBAN', valid: false },
    ]);
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['ibanValidations', 1, 'valid'], 'UPSTREAM_FAILED'],
      [['ibanValidations', 3], 'BAD_USER_INPUT'],
    ]);
    expect(upstream.calls).toHaveLength(2);
  });

  it('returns an empty list without a call', async () => {
    const { ask, upstream } = await tScriptedGateway(replyWithIban);
    expect(await ask(listQuery, { ibans: [] })).toEqual({ data: { ibanValidations: [] } });
    expect(upstream.calls).toHaveLength(0);
  });
});
