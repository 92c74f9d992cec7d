import { createRequire } from 'node:module';
import { getName, getSimpleAlpha2Code, registerLocale } from 'i18n-iso-countries/index.js';

// The main entry of the package loads the names in all languages. `require`, because importing JSON warns on Node 20.
const require = createRequire(import.meta.url);

/** The names that people write, and others for the same country, where the package has only or first the formal name. */
const usualNames: Readonly<Record<string, readonly string[]>> = {
  BA: ['Bosnia and Herzegovina', 'Bosnia'],
  BN: ['Brunei'],
  CI: ["Côte d'Ivoire"],
  CN: ['China'],
  CV: ['Cape Verde', 'Cabo Verde'],
  FK: ['Falkland Islands'],
  FM: ['Micronesia'],
  GM: ['Gambia'],
  IR: ['Iran'],
  LA: ['Laos'],
  MD: ['Moldova'],
  MF: ['Saint Martin'],
  MK: ['North Macedonia', 'Macedonia'],
  PS: ['Palestine'],
  RE: ['Réunion'],
  RU: ['Russia'],
  ST: ['São Tomé and Príncipe'],
  SX: ['Sint Maarten'],
  SY: ['Syria'],
  TL: ['Timor-Leste', 'East Timor'],
  TW: ['Taiwan'],
  TZ: ['Tanzania'],
  US: ['United States'],
  VA: ['Vatican City', 'Vatican'],
  VG: ['British Virgin Islands'],
  VI: ['U.S. Virgin Islands'],
};

const english: { countries: Record<string, string | string[]> } = require('i18n-iso-countries/langs/en.json');
registerLocale({
  locale: 'en',
  countries: Object.fromEntries(
    Object.entries(english.countries).map(([code, names]) => [code, [...(usualNames[code] ?? []), names].flat()]),
  ),
});

/** The English name of a country by its ISO 3166-1 alpha-2 code, or XK for Kosovo; null if unknown. */
export function countryName(code: string): string | null {
  return getName(code, 'en') ?? null;
}

/** The code of a country by its code or one of its English names, in any case and without accents; null if unknown. */
export function findCountryCode(codeOrName: string): string | null {
  const text = codeOrName.trim().replaceAll('\u2019', "'");
  const code = text.toUpperCase();
  if (/^[A-Z]{2}$/.test(code) && getName(code, 'en')) return code;
  return getSimpleAlpha2Code(text, 'en') ?? null;
}
