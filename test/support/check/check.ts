import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Columns } from '../../../src/check/find-columns.ts';
import { createRowWriter } from '../../../src/check/write-results.ts';
import { type CommandResult, runCommand } from '../command.ts';
import { tFolder } from '../gateway/stores/folder.ts';
import { bankDataKey } from '../gateway.ts';
import { type TProcess, tCommand } from '../process.ts';

/** A folder with a file to check, and the command on it. DATA_DIR is another folder, the same for all runs. */
export function tCheck(content: string | Buffer, name = 'payees.csv') {
  const folder = tFolder();
  const dataDir = tFolder();
  const file = join(folder, name);
  writeFileSync(file, content);
  const command = ['check', file];
  return {
    folder,
    dataDir,
    file,
    path: (other: string) => join(folder, other),
    read: (other: string) => readFileSync(join(folder, other), 'utf8'),
    run: (args: readonly string[] = [], env: Record<string, string> = {}): Promise<CommandResult> =>
      runCommand([...command, ...args], { DATA_DIR: dataDir, ...env }),
    /** As a process, to be killed or measured. */
    start: (args: readonly string[] = [], env: Record<string, string> = {}): TProcess =>
      tCommand([...command, ...args], { DATA_DIR: dataDir, ...env }),
  };
}

/** The variables of a service at this URL. */
export function serviceAt(url: string): Record<string, string> {
  return { BANK_DATA_URL: url, BANK_DATA_API_KEY: bankDataKey };
}

const none = { ibans: [], name: null, details: [], titleRow: null, notChecked: [], isWhole: true, earlierResult: null };
export const noColumns: Columns = { ...none, titles: ['t'] };
const style = { delimiter: ',', lineEnd: '\n', hasByteOrderMark: false, encoding: 'utf-8' } as const;

/** A cell as the command writes it in CSV, and as programs read that. */
export function writeCell(text: string): string {
  const write = createRowWriter('csv', { fileName: 'payees.csv', columns: noColumns, style });
  const cells = ['first', text];
  const [row] = parse(write([{ row: 1, cells, kind: 'data', result: null }]), { record_delimiter: '\n' });
  return row?.[1] ?? '';
}
