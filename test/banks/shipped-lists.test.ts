import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listsOfTable, printLists, putFirst, readTable } from '../../scripts/shipped-lists.ts';
import { answerIbanValidation } from '../../src/bank-data-service/answers/ibans.ts';
import { createBankDirectory } from '../../src/bank-data-service/bank-directory.ts';
import { createShippedBanks, readShippedLists } from '../../src/banks/shipped-banks.ts';
import { fullBic } from '../../src/iban/bic.ts';
import { buildIban } from '../../src/iban/build-iban.ts';
import { isValidIban } from '../../src/iban/iban.ts';
import { ibanFields } from '../../src/iban/iban-fields.ts';
import { nationalCheck } from '../../src/iban/national-checks.ts';

const shipped = createShippedBanks();
const directory = createBankDirectory();
const countries = shipped.countries.filter((country) => country !== 'DE');
const find = (country: string, bankCode: string) => directory.findBank(country, bankCode);

it('44 countries have a list, and 43 of them banks with a name and a BIC', () => {
  const named = shipped.countries.filter((country) => shipped.banks(country).some(({ name, bic }) => name && bic));
  expect([shipped.countries.length, named.length]).toEqual([44, 43]);
});

it.each(countries)('each bank of %s is found by an IBAN with its bank code, whatever its account', (country) => {
  const bankCodes = [...new Set(shipped.lists(country).flatMap(({ rows }) => rows.map(([bankCode]) => bankCode)))];
  const field = (wanted: string) => {
    const { length = 0, characters = 'digits' } = ibanFields(country).find(({ name }) => name === wanted) ?? {};
    const set = characters === 'letters' ? 'ABCDEFGHIJKLMNOPQRSTUVWXYZ' : '0123456789';
    return fc.string({ unit: fc.constantFrom(...set), minLength: length, maxLength: length });
  };
  const samples = fc.sample(fc.record({ branch: field('branch'), accountNumber: field('accountNumber') }), 1_000);
  let next = 0;
  const wrong = bankCodes.filter((bankCode) => {
    // Most account numbers of some countries have wrong check digits.
    for (let tries = 0; tries < samples.length; tries++) {
      next = (next + 1) % samples.length;
      const built = buildIban({ country, bankCode, ...samples[next] });
      if (built.kind !== 'iban') continue;
      const { name, bic } = find(country, bankCode) ?? {};
      const { body } = answerIbanValidation({ iban_number: built.iban }, directory);
      if (!('bank_data' in body) || !isValidIban(built.iban) || nationalCheck(built.iban) === 'FAILED') return true;
      return (
        !body.valid ||
        body.bank_data.bank_code !== bankCode ||
        body.bank_data.name !== name ||
        body.bank_data.bic !== bic
      );
    }
    return true;
  });
  expect(wrong).toEqual([]);
});

it.each(countries)(
  'each row of the lists of %s is answered as it is, unless a newer one or a correction has it',
  (country) => {
    const seen = new Set<string>();
    const wrong: string[] = [];
    for (const { rows, date } of shipped.lists(country)) {
      for (const [bankCode, bic, name] of rows) {
        if (seen.has(bankCode)) continue;
        seen.add(bankCode);
        const bank = find(country, bankCode);
        if (bank?.bicSource === 'CORRECTED') continue;
        const isSame = bank?.date === date && (bic === '' || bank.bic === bic) && (name === '' || bank.name === name);
        if (!isSame) wrong.push(bankCode);
      }
    }
    expect(wrong).toEqual([]);
  },
);

it('the differences between the lists and the answers are the ones that the corrections give reasons for', () => {
  const different = countries.flatMap((country) =>
    shipped.lists(country).flatMap(({ rows, source }) =>
      rows
        .filter(() => source.endsWith('via schwifty'))
        .filter(([bankCode, bic]) => bic !== '' && fullBic(find(country, bankCode)?.bic ?? '') !== fullBic(bic))
        .map(([bankCode]) => ({ key: country + bankCode, bank: find(country, bankCode) })),
    ),
  );
  const open = different.filter(({ bank }) => !bank?.isDeleted).map(({ key }) => key);
  expect(open.sort()).toEqual(
    (
      'ES0038 ES0200 ES0241 ES1451 ES3081 FR13485 FR14265 FR14505 FR15135 FR15607 FR16275 FR16707 FR17515 FR18025 ' +
      'FR18189 FR18715 FR19733 FR30001 FR30066'
    ).split(' '),
  );
  for (const { bank } of different) expect(bank?.bicSource).toBe('CORRECTED');
});

describe('a file of lists', () => {
  const head = 'country\tbank_code\tbic\tname\tkind\tas_of\n';
  const table = (date: string, kind: string, rows: readonly string[]) =>
    listsOfTable('AT', readTable(`${head}${rows.map((row) => `AT\t${row}\t${kind}\t${date}\n`).join('')}`), 'project');

  it('is written as it is read, with ranges of bank codes', () => {
    const lists = table('2026-03-03', 'register', ['09999\tA\tBank', '10000\tA\tBank', '10002\tA\tBank', '10001\tB\t']);
    const text =
      '=2026-03-03\tNATIONAL_LIST\tcomplete\tOesterreichische Nationalbank, via project\n' +
      '09999-10000 10002\tA\tBank\n10001\tB\t\n';
    expect(printLists(lists)).toBe(text);
  });

  it.each(shipped.countries)('of %s is what the script would write', (country) => {
    const file = new URL(`../../src/banks/lists/${country}.tsv`, import.meta.url);
    expect(printLists(readShippedLists(country))).toBe(readFileSync(file, 'utf8'));
  });

  it('keeps of older lists what newer ones do not have', () => {
    const older = table('2024-01-01', 'register', ['1\tAAAAATWW\t', '2\tBBBBATWW\tTwo', '3\tCCCCATWW\t', '4\t\tFour']);
    const newer = table('2026-01-01', 'curated', ['1\tAAAAATWWXXX\tOne', '2\tXXXXATWW\tTwo', '4\tDDDDATWW\t']);
    const rows = putFirst(newer, older).map((list) => list.rows.map(([bankCode]) => bankCode));
    expect(rows).toEqual([
      ['1', '2', '4'],
      ['2', '3', '4'],
    ]);
  });

  it('is complete only if the whole table of a country is one register whose publisher lists all banks', () => {
    const isComplete = (country: string, ...rows: string[]) =>
      listsOfTable(country, readTable(head + rows.join('\n')), 'project').map((list) => list.isComplete);
    const at = ['AT\t1\t\t\tregister\t2026-03-03', 'AT\t2\t\t\tregister\t2026-03-03'];
    expect(isComplete('AT', ...at)).toEqual([true]);
    expect(isComplete('AT', ...at, 'AT\t3\t\t\tcurated\t2026-03-03')).toEqual([false, false]);
    expect(isComplete('FI', 'FI\t1\t\t\tregister\t2026-03-03')).toEqual([false]);
  });

  it.each(['wrong\theader\n', `${head}AT\t\t\t\tregister\t2026-03-03\n`])('is not made from another table', (text) => {
    expect(() => readTable(text)).toThrow(/unknown columns|must have/);
  });
});
