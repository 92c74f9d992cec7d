import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { isIsoDate } from '../base/calendar-period.ts';
import { ConfigError, UsageError } from '../base/errors.ts';
import { print, printError } from '../base/process/terminal.ts';
import {
  type AuditedCall,
  auditFolder,
  listAuditFiles,
  readCalls,
  type SumKey,
  sumCalls,
  sumKeys,
  verifyAudit,
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

/** Verifies, sums or exports the audit trail in DATA_DIR. @throws ConfigError if lines were changed */
export function runAudit(action: string, options: AuditOptions): void {
  const folder = join(readConfig(process.env).dataDir, auditFolder);
  const isEmpty = listAuditFiles(folder).length === 0;
  if (isEmpty) printError(`${folder} has no audit trail; DATA_DIR must be that of the gateway\n`);
  if (action === 'verify') {
    if (!isEmpty) verify(folder);
    return;
  }
  const from = readDay('from', options.from, '0000-00-00');
  const to = readDay('to', options.to, '9999-99-99');
  if (from > to) throw new UsageError(`--from must not be after --to, but ${from} is after ${to}`);
  const calls = readCalls(folder, from, to);
  if (action === 'sum') printSums(calls, readSumKeys(options.by ?? 'caller,day'));
  else printCalls(calls, options.format === 'csv');
}

function printCalls(calls: readonly AuditedCall[], isCsv: boolean): void {
  const names = calls[0] ? (Object.keys(calls[0]) as (keyof AuditedCall)[]) : [];
  if (isCsv) print(stringify([names, ...calls.map((call) => names.map((name) => call[name]))]));
  else print(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
}

/** Prints the name of a token's subject in log, metrics and trail, and the one before the secret was replaced. */
export function printCallerHash(subject: string): void {
  const { access, store, dataDir } = readConfig(process.env);
  for (const nameSecret of [store.secret ?? readOrCreateSecret(dataDir), store.oldSecret]) {
    if (nameSecret === null) continue;
    print(`${createCallerFactory({ ...access, nameSecret })({ kind: 'jwt', name: subject, scopes: [] }).name}\n`);
  }
}

function verify(folder: string): void {
  const { lines, problems, unclosed } = verifyAudit(folder);
  if (problems.length > 0) throw new ConfigError(problems, 'The audit trail is not as it was written');
  print(`${lines} lines are as they were written.\n`);
  if (unclosed.length > 0)
    print(
      `No last line, because the process runs, was killed, or lines were removed at its end: ${unclosed.join(', ')}\n`,
    );
}

function printSums(calls: readonly AuditedCall[], by: readonly SumKey[]): void {
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
