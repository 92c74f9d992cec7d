import { describe, expect, it } from 'vitest';
import { countryFormats, findCountryFormat, type Span } from '../../src/iban/registry.ts';
import registry from '../data/iban-registry.json' with { type: 'json' };

/** The published registry lists no branch for these two; ours is the account prefix. */
const prefixAsBranch: ReadonlyMap<string, string> = new Map([
  ['CZ', '5-10'],
  ['SK', '5-10'],
]);

function formatSpan(span: Span | null | undefined): string | null {
  return span ? `${span.first}-${span.last}` : null;
}

describe('the registry', () => {
  it.each(registry.countries)('has $country as published', (published) => {
    const format = findCountryFormat(published.country);
    expect(format).toMatchObject({
      country: published.country,
      parent: null,
      format: published.format,
      length: published.length,
      sepa: published.sepa,
      example: published.example,
      territories: published.territories,
    });
    expect(format?.regex.source).toBe(published.regex);
    expect(formatSpan(format?.bankCode)).toBe(published.bank);
    expect(formatSpan(format?.branch)).toBe(prefixAsBranch.get(published.country) ?? published.branch);
    expect(formatSpan(format?.nationalCheckDigits)).toBe(published.nationalCheck);
  });

  it('lists exactly the 89 published countries, each once', () => {
    expect(countryFormats().map(({ country }) => country)).toEqual(registry.countries.map(({ country }) => country));
    expect(countryFormats()).toHaveLength(89);
  });
});

describe('a territory', () => {
  it('has the format of its parent with its own code', () => {
    const parent = findCountryFormat('FR');
    const territory = findCountryFormat('MQ');
    expect(territory).toEqual({
      ...parent,
      country: 'MQ',
      parent: 'FR',
      format: 'MQ2!n5!n5!n11!c2!n',
      regex: /^MQ(\d{2})(\d{5})(\d{5})([A-Za-z0-9]{11})(\d{2})$/,
      example: 'MQ5120041010050500013M02606',
      territories: [],
    });
  });

  it('is not one of the listed countries', () => {
    const listed = new Set(countryFormats().map(({ country }) => country));
    const territories = countryFormats().flatMap((format) => format.territories);
    expect(territories).toHaveLength(16);
    expect(territories.filter((code) => listed.has(code))).toEqual([]);
  });
});

it.each(['', 'D', 'de', 'DEU', 'US', 'JJ', '__proto__', 'constructor'])('has no format for "%s"', (code) => {
  expect(findCountryFormat(code)).toBeNull();
});
