import { readFileSync } from 'node:fs';

/** The rows of a table beside the code, as cells. What they are stands above its titles. */
export function readRows(name: string): readonly (readonly string[])[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
  const [, ...rows] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return rows.map((line) => line.split('\t'));
}

const rows = readRows('code-lists.tsv');

/** Codes, and what is said of each. */
export function readList(list: string): ReadonlyMap<string, string> {
  return new Map(
    readCells(list).flatMap(([codes = '', meaning = '']) => codes.split(' ').map((code) => [code, meaning] as const)),
  );
}

/** The rows of a list, without its name. */
export function readCells(list: string): readonly (readonly string[])[] {
  return rows.filter(([name]) => name === list).map(([, ...cells]) => cells);
}

/** External code sets of ISO 20022, by the element that has them. */
export const externalCodes = {
  SvcLvl: readList('SvcLvl'),
  CtgyPurp: readList('CtgyPurp'),
  LclInstrm: readList('LclInstrm'),
  Purp: readList('Purp'),
} as const;

/** ISO 4217, by the number of decimals of an amount. */
export const currencyDecimals: ReadonlyMap<string, number> = new Map(
  [...readList('currency')].map(([code, decimals]) => [code, Number(decimals)] as const),
);

/** Currencies that ended, and what replaced them. */
export const endedCurrencies = readList('ended currency');

/** What the reasons of banks mean. */
export const bankReasons = readList('reason');
