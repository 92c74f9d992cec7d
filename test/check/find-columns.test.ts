// cspell:ignore fehlt Kontoinhaber Nachname Titulaire Vorname
import { describe, expect, it } from 'vitest';
import { findColumns } from '../../src/check/find-columns.ts';
import { tIban } from '../support/ibans.ts';

const byContent = { iban: null, bic: null, name: null };
const find = (rows: readonly (readonly (string | number)[])[], names: Partial<typeof byContent> | object = {}) =>
  findColumns('payees.csv', rows, { ...byContent, ...names });

const data = [1, 2, 3].map((number) => ['Anna Muster', '12,50', tIban(number), 'COBADEFFXXX', `Invoice ${number}`]);

describe('the columns', () => {
  it('are found by their content, whatever the titles are', () => {
    const columns = find([['a', 'b', 'c', 'd', 'e'], ...data]);
    expect(columns).toMatchObject({
      ibans: [{ column: 2, bic: 3 }],
      name: 0,
      titleRow: 1,
      titles: ['a', 'b', 'c', 'd', 'e'],
    });
  });

  it('are found without titles, and named by letters', () => {
    expect(find(data)).toMatchObject({
      ibans: [{ column: 2, bic: 3 }],
      name: 0,
      titleRow: null,
      titles: ['A', 'B', 'C', 'D', 'E'],
    });
  });

  it('are found below other rows', () => {
    const rows = [['Payroll of November'], [], ['Name', 'Amount', 'IBAN', 'BIC', 'Text'], ...data];
    expect(find(rows)).toMatchObject({ ibans: [{ column: 2 }], titleRow: 3 });
  });

  it.each<[string, string[][], number | null, { iban?: string }?]>([
    [
      'a cell as the position',
      [
        ['No', 'IBAN'],
        ['1', tIban(1)],
        ['2', tIban(2)],
      ],
      1,
      { iban: '2' },
    ],
    [
      'a word of accounts in the data',
      [
        ['Name', 'IBAN', ''],
        ['Anna', 'Konto fehlt', '12,50'],
        ['Bob', tIban(1), ''],
      ],
      1,
    ],
    [
      'the own account above',
      [
        ['IBAN', tIban(9), ''],
        ['Name', 'IBAN', 'Amount'],
        ['Anna', tIban(1), '1'],
        ['Bob', tIban(2), '2'],
      ],
      2,
      { iban: 'IBAN' },
    ],
    [
      'a named title below an account',
      [
        ['Own', tIban(9)],
        ['Name', 'Payee'],
        ['Anna', tIban(1)],
      ],
      2,
      { iban: 'Payee' },
    ],
  ])('have their titles beside %s', (_, rows, titleRow, names = {}) => {
    expect(find(rows, names).titleRow).toBe(titleRow);
  });

  it('with long titles are named by letters, as findings repeat the names', () => {
    const rows = [
      ['Name', `IBAN ${'x'.repeat(96)}`, `BIC ${'x'.repeat(96)}`],
      ['Anna', tIban(1), 'COBADEFFXXX'],
    ];
    expect(find(rows)).toMatchObject({ ibans: [{ column: 1, bic: 2 }], titles: ['Name', 'B', rows[0]?.[2]] });
  });

  it('may have wrong IBANs: they look like IBANs', () => {
    const wrong = [
      ['Name', 'Account'],
      ['Anna', 'DE89370400440532013001'],
      ['Bob', 'DE8937040044053201300'],
    ];
    expect(find(wrong)).toMatchObject({ ibans: [{ column: 1 }], titleRow: 1 });
  });

  it('with the IBANs of the payees are chosen before the one of the payer', () => {
    const rows = [['Debtor', 'Creditor'], ...[1, 2, 3].map((number) => [tIban(0), tIban(number)])];
    expect(find(rows)).toMatchObject({
      ibans: [
        { column: 1, party: 'payee' },
        { column: 0, party: 'payer' },
      ],
    });
  });

  it('are found by the title if a table has no rows', () => {
    expect(find([['Name', 'IBAN']])).toMatchObject({ ibans: [{ column: 1 }], titleRow: 1, name: 0 });
  });

  it.each([
    ['a title, in any case', 'konto', 1],
    ['a letter', 'C', 2],
    ['a number', '3', 2],
  ])('are named by %s', (_, name, iban) => {
    const rows = [
      ['Name', 'Konto', 'Text'],
      ['Anna', tIban(1), tIban(2)],
    ];
    expect(find(rows, { iban: name })).toMatchObject({ ibans: [{ column: iban }] });
  });

  it('may be named if no cell looks like an IBAN', () => {
    const rows = [['Report'], ['Payee', 'Number'], ['Anna', 'n/a'], ['Bob', '?']];
    expect(find(rows, { iban: 'number' })).toMatchObject({
      ibans: [{ column: 1 }],
      titleRow: 2,
      titles: ['Payee', 'Number'],
    });
    expect(find(rows, { iban: 'B' })).toMatchObject({ ibans: [{ column: 1 }], titleRow: 2 });
  });

  it.each([
    ['Vorname', 'Nachname', 'Kontoinhaber', 2],
    ['First name', 'Last name', 'Account holder', 2],
    ['Prénom', 'Nom', 'Titulaire du compte', 2],
    ['First name', 'Last name', 'Department', 0],
  ])('with names are the whole ones, if there are any: %s, %s, %s', (first, last, other, name) => {
    const rows = [
      ['No', first, last, other, 'IBAN'],
      ...[1, 2].map((number) => [String(number), 'Anna', 'Berg', 'Anna Berg', tIban(number)]),
    ];
    expect(find(rows)).toMatchObject({ ibans: [{ column: 4 }], name: name + 1 });
  });

  it('with BICs and names are named in the same way', () => {
    const rows = [
      ['Name', 'IBAN', 'Other', 'Code'],
      ['Anna', tIban(1), 'Payee Ltd', 'x'],
    ];
    expect(find(rows, { bic: 'Code', name: 'Other' })).toMatchObject({ ibans: [{ column: 1, bic: 3 }], name: 2 });
  });
});

it.each([
  [
    'a title does not exist',
    [
      ['Name', 'IBAN'],
      ['Anna', tIban(1)],
    ],
    { iban: 'Account no' },
    'its titles are Name, IBAN',
  ],
  [
    'a title that is as short as a letter does not exist',
    [
      ['Name', 'IBAN'],
      ['Anna', tIban(1)],
    ],
    { iban: 'Nr' },
    'has no column "Nr": its titles are Name, IBAN',
  ],
  ['a letter is behind the last column', [['Anna', tIban(1)]], { name: 'C' }, 'has no column "C": it has no titles'],
  ['a number is behind the last column', [['Anna', tIban(1)]], { bic: '3' }, 'has no column "3"'],
])('says so if %s', (_, rows, names, message) => {
  expect(() => find(rows, names)).toThrow(message);
});
