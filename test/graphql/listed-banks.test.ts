import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createBankLists } from '../../src/bank-lists/bank-lists.ts';
import type { ListedBank } from '../../src/bank-lists/listed-bank.ts';
import { type CountryFormat, findCountryFormat } from '../../src/iban/registry.ts';
import { readBankFile } from '../../src/self-hosted/bank-data/directory/files/read-bank-file.ts';
import { replaceImport } from '../../src/self-hosted/bank-data/directory/replace-import.ts';
import { createRandom } from '../support/e2e/random.ts';
import { tGateway } from '../support/gateway.ts';
import { ibanOfBank } from '../support/iban/iban-of-bank.ts';
import { tFile } from '../support/self-hosted/bank-data/directory/sample.ts';
import { samples } from '../support/self-hosted/bank-data/directory/samples.ts';
import { tBankDataService } from '../support/self-hosted.ts';
import { tFolder } from '../support/stores/folder.ts';

/* The gateway answers with the record of the list, for bank codes from all over it. */

const banksPerCountry = 50;

it.each(createBankLists().countries())('answers random bank codes of %s as the list has them', async (country) => {
  const random = createRandom(46);
  const all = createBankLists().banks(country);
  const banks = Array.from({ length: banksPerCountry }, () => all[random(all.length - 1)]);
  await expectAnswers(banks, await tBankDataService());
});

it.each(samples)('answers the bank codes of the imported file of $title', async (sample) => {
  const { country, fileName } = sample;
  const dataDir = tFolder();
  const path = join(dataDir, fileName);
  writeFileSync(path, await tFile(sample));
  const { entries, format, date } = await readBankFile({ country, path });
  await replaceImport(dataDir, { country, source: format.source, date, entries });
  const { first, last } = formatOf(country).bankCode;
  const banks = createBankLists({ dataDir })
    .banks(country)
    .filter(({ bankCode }) => bankCode.length === last - first + 1);
  expect(country === 'FI' || banks.length > 0).toBe(true);
  await expectAnswers(banks, await tBankDataService({ dataDir }));
});

async function expectAnswers(banks: readonly (ListedBank | undefined)[], bankDataUrl: string): Promise<void> {
  const { ask } = tGateway({ bankDataUrl });
  const ibans = banks.map((bank) => ibanOfBank(bank?.country ?? '', bank?.bankCode ?? ''));
  const query = `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid
    bankData { bankCode name zip city bic bicSource source date } } }`;
  const { data } = await ask(query, { ibans });
  const expected = banks.map((bank, index) => {
    const { bankCode, name, zip, city, bic, bicSource, source, date } = bank ?? {};
    const orNull = (text?: string) => text || null;
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
