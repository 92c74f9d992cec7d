import type { BankEntry } from '../../../../src/bank-lists/listed-bank.ts';
import {
  type BankDirectory,
  createBankDirectory,
} from '../../../../src/self-hosted/bank-data/directory/bank-directory.ts';
import { replaceImport } from '../../../../src/self-hosted/bank-data/directory/replace-import.ts';
import { tFolder } from './folder.ts';

/** A day on which the first of the two German lists in the package is valid. */
export const now = () => new Date('2026-08-01');

export function tEntry(bankCode: string, fields: Partial<BankEntry> = {}): BankEntry {
  return { bankCode, name: '', zip: '', city: '', bic: '', ...fields };
}

/** A directory over the shipped lists and these imports. */
export async function tDirectory(imports: Readonly<Record<string, readonly BankEntry[]>>): Promise<BankDirectory> {
  const dataDir = tFolder();
  for (const [country, entries] of Object.entries(imports)) {
    await replaceImport(dataDir, { country, source: `Registry of ${country}`, date: '2026-11-21', entries });
  }
  return createBankDirectory({ dataDir, now });
}
