import type { BankFileFormat } from './bank-file-format.ts';
import { textFormats } from './text-formats.ts';
import { workbookFormats } from './workbook-formats.ts';

const formats: readonly BankFileFormat[] = [...textFormats, ...workbookFormats];

/** The countries whose files can be imported, by code. */
export function importableCountries(): readonly string[] {
  return [...new Set(formats.map(({ country }) => country))].sort();
}

/** The formats of one country; the last one is used for files that no other matches. */
export function bankFileFormats(country: string): readonly BankFileFormat[] {
  return formats.filter((format) => format.country === country);
}
