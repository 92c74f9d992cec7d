import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createBankLists } from '../../../../src/banks/bank-lists.ts';
import { runCommand } from '../../command.ts';
import { tCommand } from '../../process.ts';
import { type Sample, tFile } from './sample.ts';

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
