import { createRequire } from 'node:module';
import { getAlpha2Code, getName, registerLocale } from 'i18n-iso-countries/index.js';

// The main entry of the package loads the names in all languages. `require`, because importing JSON warns on Node 20.
const require = createRequire(import.meta.url);
registerLocale(require('i18n-iso-countries/langs/en.json'));

/** The English name of a country by its ISO 3166-1 alpha-2 code, or XK for Kosovo; null if unknown. */
export function countryName(code: string): string | null {
  return getName(code, 'en') ?? null;
}

/** The code of a country by its code or one of its English names, in any case; null if unknown. */
export function findCountryCode(codeOrName: string): string | null {
  const text = codeOrName.trim();
  const code = text.toUpperCase();
  return getName(code, 'en') ? code : (getAlpha2Code(text, 'en') ?? null);
}
