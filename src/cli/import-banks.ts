import { readBankImportConfig } from '../config/service-config.ts';
import { UsageError } from '../errors.ts';
import { ImportError } from '../self-hosted/bank-data/directory/files/bank-file.ts';
import { importableCountries } from '../self-hosted/bank-data/directory/files/formats.ts';
import { isIsoDate, latestDate } from '../self-hosted/bank-data/directory/files/list-date.ts';
import { describeBankFiles, importBanks, importFolder, undoLastImport } from '../self-hosted/bank-data/import-banks.ts';

interface ImportArguments {
  country?: string | undefined;
  file?: string | undefined;
  /** A folder. */
  all?: string | undefined;
  date?: string | undefined;
  undo?: boolean;
  force?: boolean;
}

/**
 * Replaces the directories of one country, or of all files in a folder, or restores the one before, or changes nothing and
 * writes the reason to standard error. Without arguments it lists the files.
 */
export async function runImport({
  country,
  file,
  all,
  date,
  undo = false,
  force = false,
}: ImportArguments): Promise<void> {
  if (country === undefined && all === undefined && !undo) {
    process.stdout.write(describeBankFiles());
    return;
  }
  const code = country?.toUpperCase() ?? '';
  const problem = findUsageProblem({ country: code, file, all, date, undo });
  if (problem !== null) throw new UsageError(problem);
  const { dataDir } = readBankImportConfig(process.env);
  try {
    if (all !== undefined) {
      if (!(await importFolder({ dataDir, folder: all, force }))) process.exitCode = 1;
    } else if (file !== undefined) await importBanks({ dataDir, country: code, path: file, date, force });
    else await undoLastImport(dataDir, code);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    process.stderr.write(`Nothing was ${undo ? 'changed' : 'imported'}: ${error.message}.\n`);
    process.exitCode = 1;
  }
}

function findUsageProblem({ country = '', file, all, date, undo }: ImportArguments): string | null {
  if (all !== undefined) {
    return country || undo || date !== undefined
      ? '--all takes a folder, but no country, file, --date or --undo'
      : null;
  }
  const countries = importableCountries();
  if (!countries.includes(country)) return `the country must be one of ${countries.join(', ')}`;
  if (undo) return file === undefined && date === undefined ? null : '--undo takes no file and no --date';
  if (file === undefined) return "the file is missing; run 'ledgerquill import-banks' for a list";
  return date === undefined ? null : findDateProblem(date);
}

function findDateProblem(date: string): string | null {
  if (!isIsoDate(date)) return `--date must be a date such as 2026-11-21, not "${date}"`;
  const latest = latestDate(new Date().toISOString().slice(0, 10));
  return date <= latest ? null : `--date must be at most three months after today, until ${latest}, not ${date}`;
}
