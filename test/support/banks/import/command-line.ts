import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBankDirectory } from '../../../../src/bank-data-service/directory/bank-directory.ts';
import { tCommand } from '../../process.ts';
import { type Sample, tFile } from './sample.ts';

/** Runs `import-banks` as a process. @returns its exit code and output */
export function tImport(dataDir: string, ...args: readonly string[]) {
  const child = tCommand(['import-banks', ...args], { DATA_DIR: dataDir });
  const ended = child.ended.then(({ code }) => ({ code, stdout: child.stdout(), stderr: child.stderr() }));
  return { ...child, ended };
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

/** All banks of a country in the directory of a data folder. */
export async function tBanks(dataDir: string, country: string) {
  const directory = createBankDirectory({ dataDir });
  const { banks } = directory.listBanks({ country, first: 1_000_000 });
  await directory.close();
  return banks;
}
