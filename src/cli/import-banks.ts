import { ImportError } from '../banks/import/files/bank-file.ts';
import { importableCountries } from '../banks/import/files/formats.ts';
import { latestDate } from '../banks/import/files/list-date.ts';
import {
  describeBankFiles,
  importBanks,
  importRegister,
  undoLastImport,
  undoRegisterImport,
} from '../banks/import/import-banks.ts';
import { type PaymentScheme, paymentSchemes } from '../banks/scheme-registers.ts';
import { isIsoDate, isoDateOf } from '../base/calendar-period.ts';
import { UsageError } from '../base/errors.ts';
import { print, printError } from '../base/process/terminal.ts';
import { readBankImportConfig } from '../base/variables/service-config.ts';

interface ImportArguments {
  /** Or `EPC`, for a register of a payment scheme. */
  country?: string | undefined;
  file?: string | undefined;
  date?: string | undefined;
  scheme?: PaymentScheme | undefined;
  undo?: boolean;
  force?: boolean;
}

/**
 * Replaces the directory of a country or the register of a payment scheme, or restores the one before, or changes nothing and writes the
 * reason to standard error. Without arguments it lists the files.
 */
export async function runImport({
  country,
  file,
  date,
  scheme,
  undo = false,
  force = false,
}: ImportArguments): Promise<void> {
  if (country === undefined && !undo) {
    print(describeBankFiles());
    return;
  }
  const code = country?.toUpperCase() ?? '';
  const problem = findUsageProblem({ country: code, file, date, scheme, undo });
  if (problem !== null) throw new UsageError(problem);
  const { dataDir } = readBankImportConfig(process.env);
  try {
    if (code === registers) {
      if (file !== undefined) await importRegister({ dataDir, path: file, scheme, date, force });
      else if (scheme !== undefined) await undoRegisterImport(dataDir, scheme);
    } else if (file !== undefined) await importBanks({ dataDir, country: code, path: file, date, force });
    else await undoLastImport(dataDir, code);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    printError(`Nothing was ${undo ? 'changed' : 'imported'}: ${error.message}.\n`);
    process.exitCode = 1;
  }
}

/** In place of a country: the registers of the European Payments Council. */
export const registers = 'EPC';

function findUsageProblem({ country = '', file, date, scheme, undo }: ImportArguments): string | null {
  const countries = importableCountries();
  if (country !== registers && !countries.includes(country)) {
    return `the country must be one of ${countries.join(', ')}, or ${registers} for a register of a payment scheme`;
  }
  if (scheme !== undefined && country !== registers) return `--scheme is only for ${registers}`;
  if (undo && country === registers && scheme === undefined) {
    return `--undo needs --scheme with one of ${paymentSchemes.join(', ')}`;
  }
  if (undo) return file === undefined && date === undefined ? null : '--undo takes no file and no --date';
  if (file === undefined) return "the file is missing; run 'ledgerquill import-banks' for a list";
  return date === undefined ? null : findDateProblem(date, country);
}

function findDateProblem(date: string, country: string): string | null {
  if (!isIsoDate(date)) return `--date must be a date such as 2026-11-21, not "${date}"`;
  const today = isoDateOf();
  if (country === registers) return date <= today ? null : `--date of a register must not be after today, ${today}`;
  const latest = latestDate(today);
  return date <= latest ? null : `--date must be at most three months after today, until ${latest}, not ${date}`;
}
