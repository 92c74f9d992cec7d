import type { BankFileContent } from './directory/files/read-bank-file.ts';

interface ImportSummary extends BankFileContent {
  country: string;
  path: string;
  /** ISO date. */
  date: string;
  dataDir: string;
  /** Number of banks before the import. */
  before: number;
}

/** The result of an import, as lines for a terminal. */
export function describeImport(summary: ImportSummary): string {
  const { country, path, date, dataDir, before, format, entries, rows, skipped } = summary;
  const reasons = [...skipped].sort(([, a], [, b]) => b - a);
  const lines = [
    `Imported the banks of ${country} from ${path}: was ${count(before)}, now ${count(entries.length)}`,
    row('read', rows, 'rows'),
    row('imported', entries.length, 'banks'),
    row('skipped', rows - entries.length, 'rows'),
    ...reasons.map(([reason, number]) => `${count(number).padStart(20)}  ${reason}`),
    `  source     ${format.source}`,
    `  date       ${date}`,
    `  stored in  ${dataDir}`,
    format.attribution,
  ];
  return `${lines.join('\n')}\n`;
}

function row(label: string, number: number, unit: string): string {
  return `  ${label.padEnd(9)}${count(number).padStart(9)} ${unit}`;
}

export function count(number: number): string {
  return number.toLocaleString('en');
}
