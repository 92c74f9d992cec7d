import { once } from 'node:events';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { isIsoDate } from '../base/calendar-period.ts';
import { UsageError } from '../base/errors.ts';
import { escapeControls, print, printError } from '../base/process/terminal.ts';
import {
  type AuditedCall,
  auditFolder,
  listAuditFiles,
  readCalls,
  type SumKey,
  sumCalls,
  sumKeys,
} from '../gateway/audit/read-audit.ts';
import { createCallerFactory } from '../gateway/callers/caller.ts';
import { readConfig } from '../gateway/config/read-config.ts';
import { readOrCreateSecret } from '../gateway/stores/sealed-store.ts';

interface AuditOptions {
  by?: string;
  from?: string;
  to?: string;
  format?: string;
}

/** Sums or exports the audit trail in DATA_DIR, of which only a piece is in memory. */
export async function runAudit(action: string, options: AuditOptions): Promise<void> {
  const folder = join(readConfig(process.env).dataDir, auditFolder);
  if (listAuditFiles(folder).length === 0)
    printError(`${folder} has no audit trail; DATA_DIR must be that of the gateway\n`);
  const from = readDay('from', options.from, '0000-00-00');
  const to = readDay('to', options.to, '9999-99-99');
  if (from > to) throw new UsageError(`--from must not be after --to, but ${from} is after ${to}`);
  const calls = readCalls(folder, from, to, (finding) => printError(`${finding}\n`));
  if (action === 'sum') printSums(calls, readSumKeys(options.by ?? 'caller,day'));
  else await printCalls(calls, options.format === 'csv');
}

async function printCalls(calls: Iterable<AuditedCall>, isCsv: boolean): Promise<void> {
  let isFirst = true;
  let text = '';
  for (const call of calls) {
    if (isCsv && isFirst) text += stringify([Object.keys(call)]);
    text += isCsv ? stringify([Object.values(call)]) : `${JSON.stringify(call)}\n`;
    isFirst = false;
    if (text.length < maxTextLength) continue;
    // A pipe may be read slowly.
    if (!process.stdout.write(escapeControls(text))) await once(process.stdout, 'drain');
    text = '';
  }
  print(text);
}

const maxTextLength = 65_536;

/** Prints the name of a token's subject in log, metrics and trail, and the one before the secret was replaced. */
export function printCallerHash(subject: string): void {
  const { access, store, dataDir } = readConfig(process.env);
  for (const nameSecret of [store.secret ?? readOrCreateSecret(dataDir), store.oldSecret]) {
    if (nameSecret === null) continue;
    print(`${createCallerFactory({ ...access, nameSecret })({ kind: 'jwt', name: subject, scopes: [] }).name}\n`);
  }
}

function printSums(calls: Iterable<AuditedCall>, by: readonly SumKey[]): void {
  const rows = sumCalls(calls, by).map((sum) => {
    return [...sum.keys, ...[sum.calls, sum.charged, sum.unknown, sum.open, sum.notSent].map(String)];
  });
  print(stringify([[...by, 'calls', 'charged', 'unknown', 'open', 'not_sent'], ...rows]));
}

function readDay(name: string, text: string | undefined, otherwise: string): string {
  if (text === undefined || isIsoDate(text)) return text ?? otherwise;
  throw new UsageError(`--${name} must be a day, such as 2026-11-27`);
}

function readSumKeys(text: string): SumKey[] {
  return text.split(',').map((name) => {
    const key = sumKeys.find((known) => known === name);
    if (key === undefined) throw new UsageError(`--by must be names of ${sumKeys.join(', ')}, joined by commas`);
    return key;
  });
}
