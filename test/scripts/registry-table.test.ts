import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { refreshRegistryTable, registryFile } from '../../scripts/registry-table.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const table = read('src/iban/registry-table.ts');
const registry = registryFile.parse(JSON.parse(read('test/data/iban-registry.json')));

it('generates the present registry table from the published registry', () => {
  expect(refreshRegistryTable(table, registry)).toBe(table);
});

it('writes a changed release, country and territory', () => {
  const finland = {
    ...registry.countries.find(({ country }) => country === 'FI'),
    sepa: false,
    territories: ['AX', 'QQ'],
  };
  const next = registryFile.parse({
    ...registry,
    source: 'SWIFT IBAN registry release 103 (June 2027)',
    countries: [finland],
  });
  const refreshed = refreshRegistryTable(table, next);
  expect(refreshed).toContain("registryRelease = '103 (June 2027)'");
  expect(refreshed).toContain("= [\n  ['FI2!n3!n11!n', 'FI2112345600000785', null, [1, 3], null, [14, 14]],\n];");
  expect(refreshed).toContain("([\n  ['FI', ['AX', 'QQ']],\n]);");
});

it('rejects a source without the part to replace', () => {
  expect(() => refreshRegistryTable('', registry)).toThrow('must match');
});
