import { createRequire } from 'node:module';
import { getName, registerLocale } from 'i18n-iso-countries/index.js';

// The package's main entry loads the names in every language; `require`, because importing JSON warns on Node 20.
const require = createRequire(import.meta.url);
registerLocale(require('i18n-iso-countries/langs/en.json'));

/** The English name of a country by its ISO 3166-1 alpha-2 code, XK for Kosovo included; empty where unknown. */
export function countryName(code: string): string {
  return getName(code, 'en') ?? '';
}
