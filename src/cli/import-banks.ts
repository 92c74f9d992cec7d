import { readBankImportConfig } from '../config/service-config.ts';
import { UsageError } from '../errors.ts';
import { ImportError } from '../self-hosted/bank-data/directory/files/bank-file.ts';
import { importableCountries } from '../self-hosted/bank-data/directory/files/formats.ts';
import { describeBankFiles, importBanks, undoLastImport } from '../self-hosted/bank-data/import-banks.ts';

interface ImportArguments {
  country?: string;
  file?: string;
  undo?: boolean;
  force?: boolean;
}

/**
 * Replaces the directory of one country with a downloaded file, or restores the one before, or changes nothing and writes
 * the reason to standard error. Without a country it lists the files.
 */
export async function runImport({ country, file, undo = false, force = false }: ImportArguments): Promise<void> {
  if (country === undefined && !undo) {
    process.stdout.write(describeBankFiles());
    return;
  }
  const code = country?.toUpperCase() ?? '';
  const countries = importableCountries();
  if (!countries.includes(code)) throw new UsageError(`the country must be one of ${countries.join(', ')}`);
  if (undo === (file !== undefined)) {
    throw new UsageError(
      undo ? '--undo takes no file' : "the file is missing; run 'ledgerquill import-banks' for a list",
    );
  }
  const { dataDir } = readBankImportConfig(process.env);
  try {
    await (file === undefined
      ? undoLastImport(dataDir, code)
      : importBanks({ dataDir, country: code, path: file, force }));
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    process.stderr.write(`Nothing was ${undo ? 'changed' : 'imported'}: ${error.message}.\n`);
    process.exitCode = 1;
  }
}
