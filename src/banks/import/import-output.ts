import { count, countOf, plural } from '../../base/process/terminal.ts';
import { countBanks } from '../listed-bank.ts';
import type { Faults } from './files/bank-file.ts';
import type { BankFileContent } from './files/read-bank-file.ts';
import { epcRegisters, type RegisterFileContent } from './files/read-register-file.ts';

interface ImportSummary extends BankFileContent {
  country: string;
  path: string;
  dataDir: string;
  /** Number of banks before the import. */
  before: number;
}

/** The result of an import, as lines for a terminal. */
export function describeImport(summary: ImportSummary): string {
  const { country, path, date, dateOrigin, validUntil, dataDir, before, format, entries, rows, skipped, faults } =
    summary;
  const reasons = [...skipped].sort(([, a], [, b]) => b - a);
  const skippedRows = reasons.reduce((sum, [, number]) => sum + number, 0);
  const banks = countBanks(country, entries);
  const branches = entries.length - banks;
  const lines = [
    `Imported the banks of ${country} from ${path}: was ${count(before)}, now ${count(banks)}`,
    row('read', rows, 'row'),
    row('imported', banks, 'bank') + (branches > 0 ? `, ${countOf(branches, 'branch')}` : ''),
    row('skipped', skippedRows, 'row'),
    ...reasons.map(([reason, number]) => `${count(number).padStart(20)}  ${reason}`),
    ...describeFaults(faults),
    `  source     ${format.source}`,
    `  date       ${date}${dateNotes[dateOrigin]}`,
    `  until      ${validUntil}`,
    `  stored in  ${dataDir}`,
    format.attribution,
  ];
  return `${lines.join('\n')}\n`;
}

interface RegisterSummary extends RegisterFileContent {
  path: string;
  dataDir: string;
  /** ISO date. */
  date: string;
  isDateGiven: boolean;
  /** Number of participants before the import. */
  before: number;
}

/** The result of importing a register, as lines for a terminal. */
export function describeRegisterImport(summary: RegisterSummary): string {
  const { scheme, path, date, isDateGiven, dataDir, before, participants, rows, withoutBic, faults } = summary;
  const lines = [
    `Imported the participants of ${scheme} from ${path}: was ${count(before)}, now ${count(participants.size)}`,
    row('read', rows, 'row'),
    row('imported', participants.size, 'participant'),
    row('skipped', withoutBic, 'row'),
    ...(withoutBic > 0 ? [`${count(withoutBic).padStart(20)}  rows without a BIC`] : []),
    ...describeFaults(faults),
    `  source     ${epcRegisters.source}`,
    `  date       ${date}${isDateGiven ? dateNotes.option : ' (of the import: registers have no date)'}`,
    `  stored in  ${dataDir}`,
    epcRegisters.attribution,
  ];
  return `${lines.join('\n')}\n`;
}

function describeFaults(faults: Faults): string[] {
  const unlisted = faults.count - faults.first.length;
  return [
    ...(faults.count > 0 ? [row('wrong', faults.count, 'row')] : []),
    ...faults.first.map((fault) => `             ${fault}`),
    ...(unlisted > 0 ? [`             and ${countOf(unlisted, 'more row')}`] : []),
  ];
}

const dateNotes: Readonly<Record<BankFileContent['dateOrigin'], string>> = {
  file: '',
  'file name': ' (from the name of the file)',
  option: ' (from --date)',
  import: ' (of the import: the age of the list is unknown, so unlisted bank codes are UNKNOWN; add --date)',
};

function row(label: string, number: number, noun: string): string {
  return `  ${label.padEnd(9)}${count(number).padStart(9)} ${plural(number, noun)}`;
}
