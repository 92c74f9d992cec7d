import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tFolder } from '../gateway/stores/folder.ts';
import { bankDataKey } from '../gateway.ts';
import { type TProcess, tCommand } from '../process.ts';

export interface Checked {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder with a file to check, and the command on it. DATA_DIR is another folder, the same for all runs. */
export function tCheck(content: string | Buffer, name = 'payees.csv') {
  const folder = tFolder();
  const dataDir = tFolder();
  const file = join(folder, name);
  writeFileSync(file, content);
  const start = (args: readonly string[] = [], env: Record<string, string> = {}): TProcess =>
    tCommand(['check', file, ...args], { DATA_DIR: dataDir, ...env });
  return {
    folder,
    dataDir,
    file,
    path: (other: string) => join(folder, other),
    read: (other: string) => readFileSync(join(folder, other), 'utf8'),
    start,
    async run(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Checked> {
      const command = start(args, env);
      const { code } = await command.ended;
      return { code, stdout: command.stdout(), stderr: command.stderr() };
    },
  };
}

/** The variables of a service at this URL. */
export function serviceAt(url: string): Record<string, string> {
  return { BANK_DATA_URL: url, BANK_DATA_API_KEY: bankDataKey };
}
