import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, vi } from 'vitest';
import { type BankDirectory, createBankDirectory } from '../../../../src/bank-data-service/bank-directory.ts';
import { createBankLists } from '../../../../src/banks/bank-lists.ts';
import { replaceImport, replaceRegister } from '../../../../src/banks/import/replace-import.ts';
import type { BankEntry } from '../../../../src/banks/listed-bank.ts';
import type { Participation, PaymentScheme } from '../../../../src/banks/scheme-registers.ts';
import { runCommand } from '../../command.ts';
import { tFolder } from '../../gateway/stores/folder.ts';
import { tCommand } from '../../process.ts';
import { type Sample, tFile } from './sample.ts';

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

/** Runs `import-banks`. */
export const tImport = (dataDir: string, ...args: readonly string[]) =>
  runCommand(['import-banks', ...args], { DATA_DIR: dataDir });

/** As a process of its own, while this one reads the data folder: LMDB shares an open file within a process. */
export async function importElsewhere(dataDir: string, ...args: readonly string[]): Promise<void> {
  const { ended, stderr } = tCommand(['import-banks', ...args], { DATA_DIR: dataDir });
  expect(await ended, stderr()).toEqual({ code: 0, signal: null });
}

export async function tSampleFile(
  folder: string,
  sample: Sample,
  more: Parameters<typeof tFile>[1] = [],
): Promise<string> {
  const path = join(folder, sample.fileName);
  writeFileSync(path, await tFile(sample, more));
  return path;
}

/** All banks of a country in the lists of a data folder. */
export async function tBanks(dataDir: string, country: string) {
  const lists = createBankLists({ dataDir });
  const banks = lists.banks(country);
  await lists.close();
  return banks;
}

const header = [
  ...['Country', 'ParticipantName', 'Address', 'City', 'BIC'],
  ...['Readiness Date', 'Scheme Leaving Date', 'Scheme Options'],
];

/** A row of a register, with an invented participant. */
export function tParticipant(bic: string, since = '2019-01-07', until = '', name = 'Invented Bank'): string[] {
  return ['GERMANY', name, '1 Main Street, second floor', 'Cologne', bic, since, until, ''];
}

/** A register as the EPC publishes it. */
export function tRegisterText(rows: readonly (readonly string[])[], titles: readonly string[] = header): string {
  return [titles, ...rows].map((cells) => `${cells.map((cell) => `"${cell}"`).join(',')}\r\n`).join('');
}

export function tRegisterFile(folder: string, name: string, ...args: Parameters<typeof tRegisterText>): string {
  const path = join(folder, name);
  writeFileSync(path, tRegisterText(...args));
  return path;
}

/** Imports a register with these participants. */
export function tReplaceRegister(
  dataDir: string,
  scheme: PaymentScheme,
  participants: Readonly<Record<string, readonly Participation[]>>,
  date = '2026-11-20',
): Promise<void> {
  const source = 'European Payments Council';
  return replaceRegister(dataDir, { scheme, source, date, participants: new Map(Object.entries(participants)) });
}
