import type { BankFileFormat } from './bank-file-format.ts';
import { textFormats } from './text-formats.ts';
import { workbookFormats } from './workbook-formats.ts';

const FORMATS: readonly BankFileFormat[] = [...textFormats, ...workbookFormats];

/** The countries whose files can be imported, by code. */
export function importableCountries(): readonly string[] {
  return [...new Set(FORMATS.map(({ country }) => country))].sort();
}

/** The formats of one country; of several, the last one is for files that none recognises. */
export function bankFileFormats(country: string): readonly BankFileFormat[] {
  return FORMATS.filter((format) => format.country === country);
}
