import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { createAnswers } from '../../src/check/answers/answers.ts';
import { checkTables } from '../../src/check/check-tables.ts';
import { openPaymentStream } from '../../src/check/open-file.ts';
import { readTables } from '../../src/check/read-rows.ts';
import { Tally } from '../../src/check/tally.ts';
import { compactIban, isValidIban } from '../../src/iban/iban.ts';
import { tIban } from '../support/ibans.ts';
import { rounds } from '../support/random.ts';

/* Whatever a table looks like, none of its rows and IBANs disappears. */

const banks = { has: () => false, accountCheckMethod: () => null, bics: () => [] };

/** Answers that each well-formed IBAN is valid. */
function tAnswers() {
  const answer = { kind: 'answered', valid: true, bank: null, bic: null } as const;
  return createAnswers({ ask: async () => answer });
}

const right = fc.nat({ max: 500 }).map(tIban);
const wrong = right.map((iban) => iban.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`));
const grouped = right.map((iban) => iban.replace(/.{4}/g, '$& '));
const account = fc.oneof(
  { weight: 6, arbitrary: right },
  grouped,
  right.map((iban) => `IBAN ${iban}`),
  wrong,
  fc.constant(''),
);
const word = fc.constantFrom(
  'Anna',
  'Müller, Söhne',
  'Total',
  'n/a',
  '',
  '12,50',
  'a "b"',
  'two\nlines',
  '-',
  '2026-11-30',
);

const layout = fc.record({
  preamble: fc.array(fc.tuple(word, fc.oneof(word, right)), { maxLength: 3 }),
  titles: fc.constantFrom<readonly string[] | null>(
    ['Name', 'IBAN', 'Text', 'Second IBAN'],
    ['payee_name', 'PayeeIban', 'memo', 'Pay from'],
    null,
  ),
  rows: fc.array(fc.tuple(word, account, fc.oneof({ weight: 9, arbitrary: word }, right), account), {
    minLength: 2,
    maxLength: 30,
  }),
  delimiter: fc.constantFrom(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  encoding: fc.constantFrom('utf-8', 'utf-16le', 'windows-1252'),
});

it('has all rows, and each IBAN in a status or a finding; nothing is reported only if all are valid', async () => {
  await fc.assert(
    fc.asyncProperty(layout, async ({ preamble, titles, rows, delimiter, lineEnd, encoding }) => {
      const table = [...preamble, ...(titles === null ? [] : [titles]), ...rows];
      const quote = (cell: string) => (/["\n,;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
      const text = table.map((cells) => `${cells.map(quote).join(delimiter)}${lineEnd}`).join('');
      const content = iconv.encode(text, encoding, { addBOM: encoding === 'utf-16le' });
      const file = await openPaymentStream(
        'payees.csv',
        (async function* () {
          yield content;
        })(),
      );
      const ibans = table.flat().map(compactIban).filter(isValidIban);
      const tables = await readTables(file);
      const columnNames = { iban: null, bic: null, name: null };
      const checking = { fileName: file.name, tables, sheet: null, columnNames, answers: tAnswers(), banks };
      const planned = await checkTables(checking).catch(() => null);
      // No exit code 0 either.
      if (planned === null) return expect(ibans).toEqual([]);
      const tally = new Tally();
      const checked = [];
      for await (const group of planned[0]?.checked?.rows ?? []) {
        tally.add(group);
        checked.push(...group);
      }
      expect(checked.map(({ cells }) => cells)).toEqual(table);
      const accounted = checked.flatMap(({ cells, result }) => {
        const unchecked = (result?.findings ?? []).filter(({ code }) => code === 'IBAN_NOT_CHECKED').length;
        const found = cells.map((cell) => compactIban(String(cell))).filter(isValidIban);
        const statuses = new Set(result?.cells.map(({ iban }) => iban));
        return found.filter((iban) => statuses.has(iban) || unchecked > 0);
      });
      expect(accounted.toSorted()).toEqual(ibans.toSorted());
      const statuses = checked.flatMap(({ result }) => result?.cells.map(({ status }) => status) ?? []);
      if (tally.findings.codes('hint').length === 0)
        expect(statuses.filter((each) => !/VALID|EMPTY/.test(each) || each === 'INVALID')).toEqual([]);
      const wrongCells = rows
        .flatMap(([, first, , second]) => [first, second])
        .filter((cell) => cell !== '' && !isValidIban(compactIban(cell.replace('IBAN ', ''))));
      if (wrongCells.length > 0) expect(tally.findings.codes('hint')).not.toEqual([]);
    }),
    { numRuns: rounds(100), seed: 20_261_127 },
  );
});
