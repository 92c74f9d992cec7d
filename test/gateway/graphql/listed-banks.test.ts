import { execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import { createBankLists } from '../../../src/banks/bank-lists.ts';
import type { BankListStatus, ListedBank } from '../../../src/banks/listed-bank.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { countryName } from '../../../src/iban/country-name.ts';
import { findCountryFormat } from '../../../src/iban/registry.ts';
import { tContext } from '../../support/gateway/graphql/documents.ts';
import { tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { ibanOfBank } from '../../support/ibans.ts';
import { createRandom, rounds } from '../../support/random.ts';
import { tBankDataService } from '../../support/self-hosted.ts';

/* The gateway answers with the record of the list, for bank codes from all over it. */

const banksPerCountry = rounds(10);

it.each(createBankLists().countries())('answers random bank codes of %s as the list has them', async (country) => {
  await expectAnswers(pickBanks(createBankLists().banks(country)), await tBankDataService());
});

it('says which countries have a list, of which source and day, and whether it is complete, without a call', async () => {
  const { ask, upstream } = await tScriptedGateway();
  const fields = 'countryCode country { name } source bicSource date validUntil isComplete isOutOfDate';
  const { data, errors } = await ask(`{ bankLists { ${fields} } }`);
  const lists = createBankLists();
  const expected = lists.countries().map((country) => {
    const { kind, ...status } = lists.status(country) ?? ({} as Partial<BankListStatus>);
    const format = findCountryFormat(country);
    const shown = { countryCode: country, country: format && { name: countryName(country) }, bicSource: kind };
    return { ...status, ...shown, isOutOfDate: expect.any(Boolean) };
  });
  expect(errors).toBeUndefined();
  expect(data?.bankLists).toEqual(expected);
  expect(expected.length).toBeGreaterThan(40);
  expect(upstream.calls).toHaveLength(0);
});

it.each([
  ['2999-12-31', null, false],
  ['2001-01-01', null, true],
  ['2001-01-01', '2999-12-31', false],
  ['2001-01-01', '2002-01-01', true],
])('a list of %s that is valid until %s is out of date: %s', async (date, validUntil, isOutOfDate) => {
  const contextValue = tContext();
  const [list] = contextValue.services.knownBanks.lists();
  contextValue.services.knownBanks.lists = () => [{ ...list, date, validUntil } as BankListStatus];
  const document = parse('{ bankLists { isOutOfDate } }');
  expect((await execute({ schema, document, contextValue })).data).toEqual({ bankLists: [{ isOutOfDate }] });
});

it('leads from a bank and from a list to the IBAN format of the country, unless it has no IBANs', async () => {
  const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
  const { data } = await ask('{ bank(bic: "COBADEFF") { country { code ibanLength parent { code } } } }');
  expect(data?.bank).toEqual({ country: { code: 'DE', ibanLength: 22, parent: null } });
  const document = parse('{ bankLists { countryCode country { code } } }');
  expect((await execute({ schema, document, contextValue: tContext() })).data?.bankLists).toEqual([
    { countryCode: 'DE', country: { code: 'DE' } },
    { countryCode: 'US', country: null },
  ]);
});

/** At random, always the same. */
function pickBanks(banks: readonly ListedBank[]): readonly ListedBank[] {
  const random = createRandom(46);
  return Array.from({ length: banksPerCountry }, () => banks[random(banks.length - 1)]).filter(
    (bank) => bank !== undefined,
  );
}

async function expectAnswers(banks: readonly ListedBank[], bankDataUrl: string): Promise<void> {
  const { ask } = tGateway({ bankDataUrl });
  const ibans = banks.map(({ country, bankCode }) => ibanOfBank(country, bankCode));
  const query = `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid
    bankData { bankCode name zip city bic bicSource source date } } }`;
  const { data } = await ask(query, { ibans });
  const expected = banks.map((bank, index) => {
    const { bankCode, name, zip, city, bic, bicSource, source, date } = bank;
    const orNull = (text: string) => text || null;
    const address = { zip: orNull(zip), city: orNull(city) };
    const bankData = { bankCode, name: orNull(name), ...address, bic: orNull(bic), bicSource: orNull(bicSource) };
    return { iban: ibans[index], valid: true, bankData: { ...bankData, source, date } };
  });
  expect(data?.ibanValidations).toEqual(expected);
}
