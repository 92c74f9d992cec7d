import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { refreshRegistryTable, registryFile } from '../../scripts/registry-table.ts';
import { readRegistryText } from '../../scripts/registry-text.ts';

/* The shape of the published text, with the facts of the registry file. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const registry = registryFile.parse(JSON.parse(read('test/data/iban-registry.json')));

interface Changes {
  fields?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  countries?: typeof registry.countries;
}

/** Windows-1252 with CRLF, and quotes around texts with a comma. */
function tText({ fields = {}, countries = registry.countries }: Changes = {}): Buffer {
  const rows: Readonly<Record<string, (country: (typeof countries)[number]) => string>> = {
    'Data element': () => 'Description - Pattern - Example',
    'Name of country': ({ name }) => name,
    'IBAN prefix country code (ISO 3166)': ({ country }) => country,
    'Country code includes other countries/territories': ({ territories }) =>
      territories.map((code) => (code === 'MF' ? 'MF (French part)' : code)).join(', ') || 'N/A',
    'SEPA country': ({ sepa }) => (sepa ? 'Yes' : 'No'),
    BBAN: () => '',
    'Bank identifier position within the BBAN': ({ bank }) => `${bank} `,
    'Branch identifier position within the BBAN': ({ country, branch }) => branch ?? (country === 'FI' ? 'N/A' : ''),
    'IBAN structure': ({ format }) => format,
    'IBAN length': ({ length }) => String(length),
    'IBAN electronic format example': ({ example }) => example,
    'Contact details': () => 'Rue de la Bourse, Genève\n2nd floor',
  };
  const quote = (value: string) => (/[,\n"]/.test(value) ? `"${value}"` : value);
  const lines = Object.entries(rows).map(([field, publish]) =>
    [field, ...countries.map((country) => fields[field]?.[country.country] ?? publish(country))].map(quote).join('\t'),
  );
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

it('reads the present registry from a text of the published shape', () => {
  const { registry: found, notes } = readRegistryText(tText(), '103 (September 2026)', registry);
  expect(found).toEqual(registry);
  expect(notes).toEqual([]);
});

it('writes another release to the table, with a new, a removed and a changed country', () => {
  const countries = registry.countries.filter(({ country }) => country !== 'YE');
  const [first] = countries;
  const added = {
    ...first,
    country: 'ZZ',
    name: 'Another country',
    format: 'ZZ2!n4!n',
    regex: '',
    length: 8,
    example: 'ZZ001234',
  };
  const text = tText({
    countries: registryFile.shape.countries.parse([...countries, added]),
    fields: { 'Bank identifier position within the BBAN': { XK: '1-4' } },
  });
  const { registry: found, notes } = readRegistryText(text, '103 (September 2026)', registry);
  expect(notes).toEqual([
    'ZZ: new (Another country); add its national check digits by hand, if it has any',
    'YE: removed',
    'XK: bank was 1-2, is 1-4',
  ]);
  const table = refreshRegistryTable(read('src/iban/registry-table.ts'), found);
  expect(table).toContain("registryRelease = '103 (September 2026)'");
  expect(table).toContain("['ZZ2!n4!n', 'ZZ001234', sepa, [1, 4], [5, 8]]");
  expect(table).not.toContain('YE2!n');
});

it('keeps what the text lacks: corrected branches, national check digits and the SEPA countries of the EPC', () => {
  const fields = {
    'Branch identifier position within the BBAN': { AL: '4-8', FR: '', PT: '' },
    'SEPA country': { AL: 'No' },
  };
  const { registry: found, notes } = readRegistryText(tText({ fields }), '103 (September 2026)', registry);
  expect(found).toEqual(registry);
  expect(notes).toEqual(['in SEPA by the list of the EPC only, check it: AL']);
});

it('drops them with another structure', () => {
  const fields = {
    'IBAN structure': { NO: 'NO2!n4!n7!n1!n' },
    'IBAN length': { NO: '16' },
    'IBAN electronic format example': { NO: 'NO93 8601 1117 9470' },
  };
  const { registry: found } = readRegistryText(tText({ fields }), '103 (September 2026)', registry);
  expect(found.countries.find(({ country }) => country === 'NO')).toMatchObject({
    nationalCheck: null,
    example: 'NO93860111179470',
    regex: '^NO(\\d{2})(\\d{4})(\\d{7})(\\d{1})$',
  });
});

it.each([
  ['another file', Buffer.from('bank\tbic\n1\t2'), 'The text must have a row IBAN prefix country code'],
  ['an example of another structure', tText({ fields: { 'IBAN structure': { NO: 'NO2!n4!n' } } }), 'The example of NO'],
  [
    'a position that cannot be read',
    tText({ fields: { 'Bank identifier position within the BBAN': { NO: '?' } } }),
    'for NO',
  ],
])('refuses %s', (_, text, message) => {
  expect(() => readRegistryText(text, '103 (September 2026)', registry)).toThrow(message);
});
