import { bankFileFormats } from '../src/banks/import/files/formats.ts';
import type { ShippedList, ShippedRow } from '../src/banks/shipped-banks.ts';
import { fullBic } from '../src/iban/bic.ts';

/* Writes the files in src/banks/lists: see `readShippedLists`. */

/** A row of a table of banks: `country`, `bank_code`, `bic`, `name`, `kind` (`register` or `curated`) and `as_of`. */
export interface TableRow {
  country: string;
  bankCode: string;
  bic: string;
  name: string;
  kind: string;
  date: string;
}

/** @throws Error for a row that has another form */
export function readTable(text: string): TableRow[] {
  const [header, ...lines] = text.trimEnd().split('\n');
  if (header !== 'country\tbank_code\tbic\tname\tkind\tas_of') throw new Error(`unknown columns: ${header}`);
  return lines.map((line) => {
    const [country = '', bankCode = '', bic = '', name = '', kind = '', date = ''] = line.split('\t');
    if (!/^[A-Z]{2}$/.test(country) || !/^[A-Z0-9]+$/.test(bankCode) || !/^\d{4}-\d\d-\d\d$/.test(date)) {
      throw new Error(`a row must have a country, a bank code and a date: ${line}`);
    }
    return { country, bankCode, bic, name, kind, date };
  });
}

/**
 * The lists of a country in a table, the largest first: a table has a bank code once. Only a whole register counts as complete, and the
 * ones whose publisher leaves out banks do not.
 */
export function listsOfTable(country: string, rows: readonly TableRow[], via: string): ShippedList[] {
  const groups = new Map<string, TableRow[]>();
  for (const row of rows) {
    if (row.country !== country) continue;
    const key = `${row.kind} ${row.date}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const publisher = bankFileFormats(country)[0];
  return [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .map((group) => {
      const isRegister = group[0]?.kind === 'register';
      const source = isRegister
        ? (nationalLists[country] ?? publisher?.source ?? 'national list of banks')
        : 'list of volunteers';
      return {
        date: group[0]?.date ?? '',
        kind: !isRegister ? 'CURATED' : country === 'ES' || country === 'FR' ? 'REGISTER' : 'NATIONAL_LIST',
        isComplete: isRegister && groups.size === 1 && (publisher?.isComplete ?? true),
        source: `${source}, via ${via}`,
        rows: group.map(({ bankCode, bic, name }): ShippedRow => [bankCode, bic, name]),
      };
    });
}

/** Publishers of lists that are not those of the files that can be imported. */
const nationalLists: Readonly<Record<string, string>> = { ES: 'Banco de España' };

/** Puts newer lists first. Older lists keep what the newer ones do not have: bank codes, BICs, and names of banks without one. */
export function putFirst(newer: readonly ShippedList[], older: readonly ShippedList[]): ShippedList[] {
  const known = new Map<string, { bics: Set<string>; hasName: boolean }>();
  return [...newer, ...older]
    .map((list) => {
      const rows = list.rows.filter(([bankCode, bic, name]) => {
        const before = known.get(bankCode) ?? { bics: new Set<string>(), hasName: false };
        const isNew =
          !known.has(bankCode) || (bic !== '' && !before.bics.has(fullBic(bic))) || (name !== '' && !before.hasName);
        if (bic !== '') before.bics.add(fullBic(bic));
        known.set(bankCode, { bics: before.bics, hasName: before.hasName || name !== '' });
        return isNew;
      });
      return { ...list, rows };
    })
    .filter(({ rows }) => rows.length > 0);
}

/** The content of a file of a country. */
export function printLists(lists: readonly ShippedList[]): string {
  return lists.map((list) => `${printHead(list)}\n${printRows(list.rows)}`).join('');
}

function printHead({ date, kind, isComplete, source }: ShippedList): string {
  return [`=${date}`, kind, isComplete ? 'complete' : '', source].join('\t');
}

/** Bank codes with the same BIC and name are in one line, in the order of their first bank code. */
function printRows(rows: readonly ShippedRow[]): string {
  const groups = new Map<string, string[]>();
  for (const [bankCode, bic, name] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const key = `${bic}\t${name}`;
    const group = groups.get(key);
    if (group) group.push(bankCode);
    else groups.set(key, [bankCode]);
  }
  return Array.from(groups, ([key, codes]) => `${joinRanges(codes)}\t${key}\n`).join('');
}

function joinRanges(codes: readonly string[]): string {
  const ranges: [first: string, last: string][] = [];
  for (const code of codes) {
    const range = ranges.at(-1);
    const isNext = /^\d+$/.test(code) && range !== undefined && Number(range[1]) + 1 === Number(code);
    if (isNext) range[1] = code;
    else ranges.push([code, code]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(' ');
}
