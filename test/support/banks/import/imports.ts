import { beforeEach, onTestFinished, vi } from 'vitest';
import { type BankDirectory, createBankDirectory } from '../../../../src/bank-data-service/bank-directory.ts';
import { replaceImport } from '../../../../src/banks/import/replace-import.ts';
import type { BankEntry } from '../../../../src/banks/listed-bank.ts';
import { tFolder } from '../../gateway/stores/folder.ts';

/** Runs the tests of a file on a date when the first of the two German lists in the package is valid. */
export function useFirstGermanList(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-08-01') });
  });
}

export function tEntry(bankCode: string, fields: Partial<BankEntry> = {}): BankEntry {
  return { bankCode, name: '', zip: '', city: '', bic: '', ...fields };
}

/** A directory with the shipped lists and these imports; by default, their date is before our corrections of shipped lists. */
export async function tDirectory(
  imports: Readonly<Record<string, readonly BankEntry[]>>,
  date = '2026-11-21',
): Promise<BankDirectory> {
  const dataDir = tFolder();
  for (const [country, entries] of Object.entries(imports)) {
    await replaceImport(dataDir, { country, source: `Registry of ${country}`, date, entries });
  }
  return tDirectoryIn(dataDir);
}

/** The directory of a data folder, closed after the test. */
export function tDirectoryIn(dataDir: string): BankDirectory {
  const directory = createBankDirectory({ dataDir });
  onTestFinished(() => directory.close());
  return directory;
}

/** Imports banks of the Czech Republic with these codes. */
export function tReplace(
  dataDir: string,
  codes: readonly string[],
  more: Partial<Parameters<typeof replaceImport>[1]> = {},
) {
  const entries = codes.map((code) => tEntry(code));
  return replaceImport(dataDir, { country: 'CZ', source: 'Registry', date: '2026-11-21', entries, ...more });
}

/** The codes of these banks in the directory. */
export function tCodes(dataDir: string): string[] {
  return tDirectoryIn(dataDir)
    .listBanks({ country: 'CZ' })
    .banks.map(({ bankCode }) => bankCode);
}
