import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseBoundedJson, readProperty } from '../../base/parse-json.ts';

/** Where the trail is in DATA_DIR. */
export const auditFolder = 'audit';

/** The lines of one process and one day. */
interface AuditFile {
  path: string;
  day: string;
  process: string;
}

/** The files of a folder by process, and by day. */
export function listAuditFiles(folder: string): AuditFile[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = names.flatMap((name) => {
    const [, day, process] = /^(\d{4}-\d\d-\d\d)\.([\w-]+)\.jsonl$/.exec(name) ?? [];
    return day === undefined || process === undefined ? [] : [{ path: join(folder, name), day, process }];
  });
  const keyOf = ({ process, day }: AuditFile) => `${process} ${day}`;
  return files.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function readLines({ path }: AuditFile): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
}

/** What is wrong with the lines of a folder, and how many there are. */
export interface Verification {
  lines: number;
  problems: string[];
  /** Processes without a last line: they run, or were killed, or their last lines were removed. */
  unclosed: string[];
}

/** Checks the hashes and numbers of all lines. */
export function verifyAudit(folder: string): Verification {
  const found: Verification = { lines: 0, problems: [], unclosed: [] };
  let process = '';
  let last = { number: 0, hash: '', isClosed: true };
  for (const file of listAuditFiles(folder)) {
    const isFirst = file.process !== process;
    if (isFirst && !last.isClosed) found.unclosed.push(process);
    process = file.process;
    let isUnknown = isFirst;
    if (isFirst) last = { number: 0, hash: '', isClosed: false };
    for (const [index, text] of readLines(file).entries()) {
      found.lines += 1;
      const line = parseBoundedJson(text);
      const number = Number(readProperty(line, 'n'));
      const own = findOwnHash(text);
      const place = `${basename(file.path)}, line ${index + 1}`;
      // Earlier files of the process may have been deleted, because they were old enough.
      const isContinued = isUnknown || (number === last.number + 1 && readProperty(line, 'prev') === last.hash);
      if (own === null) found.problems.push(`${place}: was changed: its hash does not fit its content`);
      else if (!isContinued)
        found.problems.push(`${place}: does not follow the line before: lines were removed or moved`);
      last = {
        number,
        hash: own ?? String(readProperty(line, 'hash')),
        isClosed: readProperty(line, 'closed') === true,
      };
      isUnknown = false;
    }
  }
  if (!last.isClosed) found.unclosed.push(process);
  return found;
}

/** The hash of a line, if it fits the content; null: it was changed, or is incomplete. */
function findOwnHash(text: string): string | null {
  const [, content = '', own = null] = /^(.*),"hash":"([0-9a-f]{64})"\}$/.exec(text) ?? [];
  return own !== null && hash('sha256', content, 'hex') === own ? own : null;
}

/** The fields of a call, from its two lines. Its outcome is `open` if its process has not written how it ended: it may have been sent. */
const callFields = [
  'at',
  'day',
  'process',
  'caller',
  'service',
  'tool',
  'request',
  'order',
  'operation',
  'document',
  'cause',
  'outcome',
  'status',
  'charged',
] as const;
export type AuditedCall = Record<(typeof callFields)[number], string>;

/** The calls that began from one day to another, inclusive. */
export function readCalls(folder: string, from: string, to: string): AuditedCall[] {
  const calls = new Map<string, AuditedCall>();
  for (const file of listAuditFiles(folder)) {
    if (file.day < from) continue;
    for (const text of readLines(file)) {
      const line = parseBoundedJson(text);
      const read = (name: string) => String(readProperty(line, name) ?? '');
      const call = calls.get(`${file.process} ${read('of')}`);
      if (call) Object.assign(call, { outcome: read('outcome'), status: read('status'), charged: read('charged') });
      if (read('service') === '' || file.day > to) continue;
      const begun = Object.fromEntries(callFields.map((name) => [name, read(name)])) as AuditedCall;
      const { day, process } = file;
      calls.set(`${process} ${read('n')}`, { ...begun, day, process, outcome: 'open', charged: 'unknown' });
    }
  }
  return [...calls.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
}

export const sumKeys = ['caller', 'day', 'service', 'tool', 'operation', 'cause', 'outcome'] as const;
export type SumKey = (typeof sumKeys)[number];

export interface Sum {
  keys: string[];
  /** Those that the service has received, or may have received. */
  calls: number;
  charged: number;
  unknown: number;
  /** Those of the unknown ones whose process did not write how they ended. */
  open: number;
  notSent: number;
}

export function sumCalls(calls: readonly AuditedCall[], by: readonly SumKey[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const call of calls) {
    const keys = by.map((key) => call[key]);
    const sum = sums.get(keys.join('\n')) ?? { keys, calls: 0, charged: 0, unknown: 0, open: 0, notSent: 0 };
    sums.set(keys.join('\n'), sum);
    if (call.charged === 'no') sum.notSent += 1;
    else sum.calls += 1;
    if (call.charged === 'yes') sum.charged += 1;
    if (call.charged === 'unknown') sum.unknown += 1;
    if (call.outcome === 'open') sum.open += 1;
  }
  return [...sums.values()].sort((a, b) => (a.keys.join('\n') < b.keys.join('\n') ? -1 : 1));
}
