import { parse } from 'csv-parse/sync';
import { toRegex } from '../src/iban/registry.ts';
import type { RegistryFile } from './registry-table.ts';

/*
 * Reads the registry as SWIFT publishes it: a text in Windows-1252 with tabs, one row for each field and one column for each
 * country. What it does not have, or has wrong, remains as it is in the registry file.
 */

type Country = RegistryFile['countries'][number];

/** The published branch positions contradict three independent tables. */
const correctedBranches: ReadonlySet<string> = new Set(['AL', 'FR', 'PT']);

/**
 * The registry file with the countries of a published text.
 * @param release of the text, such as `103 (September 2026)`: the text does not have it
 * @returns also what differs, and what is to be checked by hand
 * @throws Error if the text has another shape
 */
export function readRegistryText(content: Uint8Array, release: string, before: RegistryFile) {
  const known = new Map(before.countries.map((country) => [country.country, country]));
  const published = readColumns(content).map(readCountry);
  const countries = published.map((country) => complete(country, known.get(country.country)));
  const source = before.source.replace(/release [^)]*\)/, `release ${release}`);
  return { registry: { ...before, source, countries }, notes: describeChanges(before.countries, countries, published) };
}

/** The fields of each country. */
function readColumns(content: Uint8Array): Map<string, string>[] {
  const text = new TextDecoder('windows-1252').decode(content);
  const rows: string[][] = parse(text, { delimiter: '\t', relaxColumnCount: true, relaxQuotes: true, trim: true });
  const codes = rows.find(([field]) => field === countryField)?.slice(1) ?? [];
  if (codes.length === 0)
    throw new Error(`The text must have a row ${countryField}, with one column for each country.`);
  return codes.map((_, index) => new Map(rows.map(([field = '', ...values]) => [field, values[index] ?? ''])));
}

const countryField = 'IBAN prefix country code (ISO 3166)';

function readCountry(column: ReadonlyMap<string, string>): Country {
  const code = read(countryField, /^([A-Z]{2})$/);
  const format = read('IBAN structure', /^([A-Z]{2}2!n(?:\d+![nac])+)$/);
  const country = {
    country: code,
    name: read('Name of country', /^(.+)$/),
    format,
    regex: toRegex(format).source,
    length: Number(read('IBAN length', /^(\d+)$/)),
    sepa: read('SEPA country', /^(Yes|No)$/) === 'Yes',
    example: read('IBAN electronic format example', /^([A-Za-z0-9 ]+)$/).replaceAll(' ', ''),
    bank: read('Bank identifier position within the BBAN', /^(\d+-\d+)$/),
    branch: read('Branch identifier position within the BBAN', /^(\d+-\d+|N\/A|)$/),
    territories: column.get('Country code includes other countries/territories')?.match(/\b[A-Z]{2}\b/g) ?? [],
  };
  if (!toRegex(format).test(country.example) || country.example.length !== country.length) {
    throw new Error(`The example of ${code} must have its structure ${format} and its length ${country.length}.`);
  }
  return { ...country, branch: country.branch.includes('-') ? country.branch : null, nationalCheck: null };

  function read(field: string, pattern: RegExp): string {
    const value = column.get(field);
    const [, found] = pattern.exec(value ?? '') ?? [];
    if (found !== undefined) return found;
    throw new Error(`The row ${field} must match ${pattern}, but has "${value ?? ''}" for ${code ?? 'a country'}.`);
  }
}

/** Adds what the text does not have: national check digits, and the SEPA countries that the EPC has added. */
function complete(published: Country, known: Country | undefined): Country {
  if (known === undefined) return published;
  const { nationalCheck, branch } = known.format === published.format ? known : published;
  const isCorrected = correctedBranches.has(published.country);
  return {
    ...published,
    sepa: published.sepa || known.sepa,
    branch: isCorrected ? branch : published.branch,
    nationalCheck,
  };
}

function describeChanges(
  before: readonly Country[],
  after: readonly Country[],
  published: readonly Country[],
): string[] {
  const known = new Map(before.map((country) => [country.country, country]));
  const codes = new Set(after.map(({ country }) => country));
  const added = after.filter(({ country }) => !known.has(country));
  const changed = after.flatMap((country) => {
    const old = known.get(country.country);
    const fields = old ? fieldNames.filter((field) => String(country[field]) !== String(old[field])) : [];
    return fields.map((field) => `${country.country}: ${field} was ${old?.[field]}, is ${country[field]}`);
  });
  const addedToSepa = after.filter(({ sepa }, index) => sepa && !published[index]?.sepa);
  return [
    ...added.map(
      ({ country, name }) => `${country}: new (${name}); add its national check digits by hand, if it has any`,
    ),
    ...before.filter(({ country }) => !codes.has(country)).map(({ country }) => `${country}: removed`),
    ...changed,
    ...(addedToSepa.length > 0
      ? [`in SEPA by the list of the EPC only, check it: ${addedToSepa.map(({ country }) => country).join(', ')}`]
      : []),
  ];
}

const fieldNames = ['name', 'format', 'example', 'sepa', 'bank', 'branch', 'nationalCheck', 'territories'] as const;
