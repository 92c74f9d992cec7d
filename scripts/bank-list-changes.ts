import type { ListedBank } from '../src/banks/listed-bank.ts';
import { readPart, replacePart } from './replace-part.ts';

export type Row = Pick<ListedBank, 'country' | 'bankCode' | 'name' | 'bic'>;

/** What differs between two editions of the bank lists: a line per country, and below it a line per row, at most `maxRows`. */
export function describeChanges(before: readonly Row[], after: readonly Row[], maxRows = 50): string[] {
  const countries = [...new Set([...before, ...after].map(({ country }) => country))].sort();
  return countries.flatMap((country) => {
    const [old, current] = [before, after].map(
      (rows) => new Map(rows.filter((row) => row.country === country).map((row) => [row.bankCode, describeRow(row)])),
    );
    const codes = [...new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])])].sort();
    const changes = codes.flatMap((bankCode) => {
      const [was, is] = [old?.get(bankCode), current?.get(bankCode)];
      if (was === is) return [];
      if (was === undefined) return `  added    ${bankCode}  ${is}`;
      return is === undefined ? `  removed  ${bankCode}  ${was}` : `  changed  ${bankCode}  ${was} -> ${is}`;
    });
    const more = changes.length > maxRows ? [`  and ${changes.length - maxRows} more`] : [];
    return [
      `${country}: ${changes.length} of ${codes.length} bank codes changed`,
      ...changes.slice(0, maxRows),
      ...more,
    ];
  });
}

function describeRow({ name, bic }: Row): string {
  return [bic || 'without BIC', name].filter(Boolean).join(' ');
}

/** The source of shipped-banks.ts with the first and the last valid day of the installed lists of German banks. */
export function refreshGermanDates(shippedBanks: string, version: string, readme: string): string {
  const sentence = readPart(readme, /(includes data from .*)/);
  const release = version.split('.').slice(0, 2).join('.');
  const first = readPart(sentence, /from (\d{4}-\d\d-\d\d) to/);
  const last = readPart(sentence, /.* to (\d{4}-\d\d-\d\d)/);
  const named = replacePart(shippedBanks, /(`bankdata-germany` )[\d.]+\d/, release);
  return replacePart(replacePart(named, /(germanDate = ')[\d-]+/, first), /(germanValidUntil = ')[\d-]+/, last);
}
