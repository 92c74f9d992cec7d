import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceRegister } from '../../../../src/banks/import/replace-import.ts';
import type { Participation, PaymentScheme } from '../../../../src/banks/scheme-registers.ts';

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
