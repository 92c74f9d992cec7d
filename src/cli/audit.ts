import { once } from 'node:events';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { isIsoDate } from '../base/calendar-period.ts';
import { type ServiceName, UsageError } from '../base/errors.ts';
import { formatAmount } from '../base/money.ts';
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
import { type ReportedCalls, readReported, reconcile } from '../gateway/audit/reconcile.ts';
import { createCallerFactory } from '../gateway/callers/caller.ts';
import { readConfig } from '../gateway/config/read-config.ts';
import { readOrCreateSecret } from '../gateway/stores/sealed-store.ts';

interface AuditOptions {
  by?: string;
  from?: string;
  to?: string;
  format?: string;
  service?: ServiceName;
}

/** Sums or exports the audit trail in DATA_DIR, of which only a piece is in memory, or compares it with a file of a provider. */
export async function runAudit(action: string, file: string | undefined, options: AuditOptions): Promise<void> {
  if ((file !== undefined) !== (action === 'reconcile'))
    throw new UsageError('reconcile needs the file of a provider, and the other actions have none');
  const folder = join(readConfig(process.env).dataDir, auditFolder);
  if (listAuditFiles(folder).length === 0)
    printError(`${folder} has no audit trail; DATA_DIR must be that of the gateway\n`);
  const from = readDay('from', options.from, '0000-00-00');
  const to = readDay('to', options.to, '9999-99-99');
  if (from > to) throw new UsageError(`--from must not be after --to, but ${from} is after ${to}`);
  const report = (finding: string) => printError(`${finding}\n`);
  if (file !== undefined) {
    const reported = await readReported(file, options.service, (day) => day >= from && day <= to);
    return printReconciled(reported, folder, report, options);
  }
  const calls = readCalls(folder, from, to, report);
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
  const rows = sumCalls(calls, by).map(({ keys, currency, amount, unknownAmount, ...sum }) => {
    const amounts = currency === '' ? ['', ''] : [formatAmount(amount), formatAmount(unknownAmount)];
    return [...keys, ...[sum.calls, sum.charged, sum.unknown, sum.open, sum.notSent].map(String), ...amounts, currency];
  });
  const columns = ['calls', 'charged', 'unknown', 'open', 'not_sent', 'amount', 'unknown_amount', 'currency'];
  print(stringify([[...by, ...columns], ...rows]));
}

/** Names the unknown calls on standard error. The exit code is 1 unless all days are equal. */
function printReconciled(
  reported: ReportedCalls,
  folder: string,
  report: (finding: string) => void,
  { from, to }: AuditOptions,
): void {
  const days = [...reported.keys()].map((key) => key.slice(0, 10)).toSorted();
  const calls = readCalls(folder, from ?? days[0] ?? '', to ?? days.at(-1) ?? '', report);
  const rows = reconcile(reported, withNamed(calls));
  print(stringify([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]));
  if (rows.some(({ result }) => result !== 'equal')) process.exitCode = 1;

  function* withNamed(calls: Iterable<AuditedCall>): Generator<AuditedCall> {
    for (const call of calls) {
      const { at, service, tool, caller, request, order, outcome, status } = call;
      const of = order === '' ? `request ${request}` : `order ${order}`;
      const text = `Unknown: ${at} ${service} ${tool}, ${caller}, ${of}, ${outcome} ${status}`;
      if (call.charged === 'unknown') report(text.trimEnd());
      yield call;
    }
  }
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
