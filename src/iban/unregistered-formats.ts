import { type CountryFormat, toRegex } from './registry.ts';

/** The format of numbers like IBANs that banks of a country use, although it is not in the SWIFT registry. */
export type UnregisteredFormat = Pick<CountryFormat, 'country' | 'format' | 'regex' | 'length'>;

/**
 * The format of a country outside the registry, by its code in capitals; null if no numbers like IBANs are known there. Where
 * its bank code and branch are is not published.
 * @example
 * findUnregisteredFormat('MA').length // => 28
 * findUnregisteredFormat('FR') // => null
 */
export function findUnregisteredFormat(code: string): UnregisteredFormat | null {
  return formatsByCode.get(code) ?? null;
}

/**
 * No official list has them: lengths and characters are those in which several independent tables and the published examples
 * agree. The first two characters of a bank code in the West African monetary union are letters, or in older ones a letter and
 * a digit.
 */
const bbanFormats: readonly (readonly [countries: string, bban: string])[] = [
  ['AO CV MZ', '21!n'],
  ['GW', '2!c19!n'],
  ['DZ IR', '22!n'],
  ['CF CG CM GA GQ KM MG TD', '23!n'],
  ['MA', '24!n'],
  ['BF BJ CI ML NE SN TG', '2!c22!n'],
];

const formatsByCode: ReadonlyMap<string, UnregisteredFormat> = new Map(
  bbanFormats.flatMap(([countries, bban]) =>
    countries.split(' ').map((country) => [country, createFormat(country, bban)] as const),
  ),
);

function createFormat(country: string, bban: string): UnregisteredFormat {
  const format = `${country}2!n${bban}`;
  const lengths = [...format.matchAll(/(\d+)!/g)].map(([, length]) => Number(length));
  return {
    country,
    format,
    regex: toRegex(format),
    length: lengths.reduce((sum, length) => sum + length, country.length),
  };
}
