import { readBankImportConfig } from '../../config/service-config.ts';
import { runMain } from '../../run-main.ts';
import { importableCountries } from './directory/files/bank-file-formats.ts';
import { readBankFile } from './directory/files/read-bank-file.ts';
import { ImportError } from './directory/import-error.ts';
import { replaceImport } from './directory/replace-import.ts';
import { describeImport } from './import-summary.ts';
import { createProgressBar } from './progress-bar.ts';

/*
 * `import-banks <country> <file>`: replaces the directory of one country with a downloaded file, or changes nothing and
 * writes the reason to standard error.
 */

await runMain(async () => {
  const { dataDir } = readBankImportConfig(process.env);
  const [country, path, ...rest] = process.argv.slice(2);
  if (!country || !path || rest.length > 0) return fail(usage());
  try {
    await importBanks(country.toUpperCase(), path, dataDir);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    fail(`Nothing was imported: ${error.message}.`);
  }
});

async function importBanks(country: string, path: string, dataDir: string): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const bar = createProgressBar(process.stderr);
  const content = await readBankFile({ country, path, onProgress: bar.show }).finally(bar.clear);
  await replaceImport(dataDir, { country, source: content.format.source, date, entries: content.entries });
  process.stdout.write(describeImport({ ...content, country, path, date, dataDir }));
}

function usage(): string {
  return [
    'Usage: npm run import-banks -- <country> <file>',
    `  <country>  one of ${importableCountries().join(', ')}`,
    '  <file>     the directory, as downloaded from its publisher',
  ].join('\n');
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
