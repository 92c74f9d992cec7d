import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import { createBankLists } from '../../../src/banks/bank-lists.ts';
import { readBankFile } from '../../../src/banks/import/files/read-bank-file.ts';
import { replaceImport } from '../../../src/banks/import/replace-import.ts';
import type { BankListStatus, ListedBank } from '../../../src/banks/listed-bank.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { countryName } from '../../../src/iban/country-name.ts';
import { type CountryFormat, findCountryFormat } from '../../../src/iban/registry.ts';
import type { Cells, Sample } from '../../support/banks/import/sample.ts';
import { samples } from '../../support/banks/import/samples.ts';
import { createRandom } from '../../support/e2e/random.ts';
import { tContext } from '../../support/gateway/graphql/outcomes.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tGateway, tScriptedGateway } from '../../support/gateway.ts';
import { ibanOfBank } from '../../support/iban/iban-of-bank.ts';
import { rounds } from '../../support/rounds.ts';
import { tBankDataService } from '../../support/self-hosted.ts';

/* The gateway answers with the record of the list, for bank codes from all over it. */

const banksPerCountry = rounds(10);

it.each(createBankLists().countries())('answers random bank codes of %s as the list has them', async (country) => {
  await expectAnswers(pickBanks(createBankLists().banks(country)), await tBankDataService());
});

it.each(samples)('answers random bank codes of the imported file of $title as the file has them', async (sample) => {
  const { country, fileName } = sample;
  const names = createNames(sample);
  const dataDir = tFolder();
  const path = join(dataDir, fileName);
  writeFileSync(path, await sample.encode([...sample.top, ...createRows(sample, names)]));
  const { entries, format, date } = await readBankFile({ country, path });
  await replaceImport(dataDir, { country, source: format.source, date, entries });
  const listed = createBankLists({ dataDir }).banks(country);
  const banks = pickBanks(listed.filter(({ bankCode }) => names.has(bankCode)));
  for (const { bankCode, name, source } of banks) {
    expect([name, source]).toEqual([names.get(bankCode), expect.stringMatching(`^${format.source}`)]);
  }
  await expectAnswers(banks, await tBankDataService({ dataDir }));
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

/** The names of twice as many banks, by random bank codes as IBANs of the country contain them. */
function createNames({ country, bank }: Sample): ReadonlyMap<string, string> {
  const random = createRandom(country.charCodeAt(0));
  const { first, last } = formatOf(country).bankCode;
  const characters = /^\d/.test(bank.bankCode) ? '0123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const codes = new Set<string>();
  while (codes.size < banksPerCountry * 2) {
    const code = Array.from({ length: last - first + 1 }, () => characters[random(characters.length - 1)]).join('');
    codes.add(code);
  }
  return new Map(Array.from(codes, (code, index) => [code, `${bank.name} ${index}`]));
}

/** The row of the bank that is expected, once for each of these banks. */
function createRows(sample: Sample, names: ReadonlyMap<string, string>): readonly Cells[] {
  const { country, bank, rows } = sample;
  const written = bank.bankCode.replace(/^0+/, '');
  const row = rows.find((cells) => cells.includes(bank.name) && (bank.zip === '' || cells.includes(bank.zip))) ?? [];
  return Array.from(names, ([code, name]) => {
    const cells = row.map((cell) => {
      if (cell === bank.name) return name;
      const [, prefix = '', digits = ''] = /^([A-Z]{2}(?=\d))?0*(.*)$/.exec(String(cell)) ?? [];
      // In Hungary, the branch follows.
      const rest = country === 'HU' ? digits.slice(written.length) : '';
      return digits === written + rest && digits.startsWith(written) ? prefix + code + rest : cell;
    });
    // A range of one number.
    return ['DK', 'FO', 'GL'].includes(country) ? cells.with(1, code).with(2, code) : cells;
  });
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

function formatOf(country: string): CountryFormat {
  const format = findCountryFormat(country);
  if (format === null) throw new Error(`${country} has no IBANs`);
  return format;
}
