import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parseMoney } from '../../base/money.ts';
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
  'price',
] as const;
/** A call, from its line, or from the two lines of an order. The outcome of an order is `open` if its end was not written: it may have been sent. */
export type AuditedCall = Record<(typeof callFields)[number], string>;

/** The calls from one day to another, inclusive, by process and number. An order is of the day of its beginning, a look-up of that of its end. */
export function* readCalls(
  folder: string,
  from: string,
  to: string,
  /** Receives what is missing of the trail. */
  report: (finding: string) => void = () => {},
): Generator<AuditedCall> {
  const processes = new Map<string, AuditFile[]>();
  for (const file of listAuditFiles(folder)) {
    const files = processes.get(file.process) ?? [];
    processes.set(file.process, files);
    files.push(file);
  }
  for (const files of processes.values()) {
    const isRead = ({ day }: AuditFile) => day >= from && day <= to;
    yield* readProcess(
      files.filter(isRead),
      files.filter((file) => !isRead(file)),
      report,
    );
  }
}

/** The calls of one process. @param others its files of other days, which may have the ends of its orders */
function* readProcess(
  files: readonly AuditFile[],
  others: readonly AuditFile[],
  report: (finding: string) => void,
): Generator<AuditedCall> {
  const [first] = files;
  if (first === undefined) return;
  const { process } = first;
  /** Orders without an end, and ends without a beginning, by the number of the first line: a clock may have been set back. */
  const orders = new Map<number, AuditedCall>();
  const ends = new Map<number, Line>();
  let [lines, lost, isClosed] = [0, 0, false];
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0];
  // A process that has continued on an earlier day has numbered its lines nevertheless.
  for (const { path, day } of sortByNumber(files)) {
    for (const line of readLines(path)) {
      lines += 1;
      lowest = Math.min(lowest, line.number);
      highest = Math.max(highest, line.number);
      lost += line.readNumber('lost') || 0;
      isClosed ||= line.read('closed') === 'true';
      const service = line.read('corrected');
      if (service !== '') report(describeCorrection(service, line));
      const of = line.readNumber('of');
      const order = orders.get(of);
      if (order !== undefined) yield endOrder(order, line);
      else if (!Number.isNaN(of)) ends.set(of, line);
      orders.delete(of);
      if (line.read('service') === '') continue;
      const call = Object.fromEntries(callFields.map((name) => [name, line.read(name)])) as AuditedCall;
      Object.assign(call, { day, process });
      if (call.outcome === '') orders.set(line.number, { ...call, outcome: 'open', charged: 'unknown' });
      else yield call;
    }
  }
  const isIncomplete = orders.size > 0 || highest - lowest + 1 > lines || !isClosed;
  for (const { path } of isIncomplete ? others : []) {
    for (const line of readLines(path)) {
      if (line.number > lowest && line.number < highest) lines += 1;
      isClosed ||= line.read('closed') === 'true';
      const of = line.readNumber('of');
      if (orders.has(of)) ends.set(of, line);
    }
  }
  for (const [number, order] of orders) {
    const end = ends.get(number);
    yield end === undefined ? order : endOrder(order, end);
  }
  const missing = highest - lowest + 1 - lines;
  if (missing > 0) report(`Process ${process}: ${missing} lines are missing between its first and its last one.`);
  if (lost > 0) report(`Process ${process}: ${lost} lines were lost while the trail could not be written.`);
  if (!isClosed)
    report(
      `Process ${process} has no last line: it runs, or was killed. Look-ups that it had sent are not in the trail until they end: what became of them is unknown, and the allowance has counted them.`,
    );
}

function describeCorrection(service: string, line: Line): string {
  return `The count of calls of ${service} was corrected from ${line.read('from')} to ${line.read('to')} at ${line.read('at')}.`;
}

function endOrder(order: AuditedCall, end: Line): AuditedCall {
  return { ...order, outcome: end.read('outcome'), status: end.read('status'), charged: end.read('charged') };
}

function sortByNumber(files: readonly AuditFile[]): AuditFile[] {
  const numbered = files.map((file) => ({ file, first: firstNumber(file.path) }));
  return numbered.sort((a, b) => a.first - b.first).map(({ file }) => file);
}

/** 0 in a file without lines. */
function firstNumber(path: string): number {
  // The end of the loop closes the file.
  for (const { number } of readLines(path)) return number;
  return 0;
}

interface Line {
  number: number;
  /** The text of a field; empty if it has none. */
  read(name: string): string;
  /** NaN if it has none. */
  readNumber(name: string): number;
}

/** The lines of a file, of which only a piece is in memory. Lines without a number are left out. */
function* readLines(path: string): Generator<Line> {
  const fd = openSync(path, 'r');
  try {
    const piece = Buffer.alloc(65_536);
    let rest = Buffer.alloc(0);
    for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece)) {
      const bytes = Buffer.concat([rest, piece.subarray(0, length)]);
      const end = bytes.lastIndexOf('\n') + 1;
      rest = bytes.subarray(end);
      for (const text of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) {
        const line = toLine(parseBoundedJson(text));
        if (!Number.isNaN(line.number)) yield line;
      }
    }
  } finally {
    closeSync(fd);
  }
}

function toLine(json: unknown): Line {
  const read = (name: string) => String(readProperty(json, name) ?? '');
  const readNumber = (name: string) => Number(readProperty(json, name) ?? Number.NaN);
  return { number: readNumber('n'), read, readNumber };
}

export const sumKeys = ['caller', 'day', 'service', 'tool', 'operation', 'cause', 'outcome'] as const;
export type SumKey = (typeof sumKeys)[number];

export interface Sum {
  keys: string[];
  /** Of the prices, each of which is summed apart; empty for calls without a price. */
  currency: string;
  /** Those that the service has received, or may have received. */
  calls: number;
  charged: number;
  unknown: number;
  /** Orders among the unknown ones whose process did not write how they ended. */
  open: number;
  notSent: number;
  /** What `calls` cost, in millionths. */
  amount: bigint;
  /** Of this, what the unknown ones cost. */
  unknownAmount: bigint;
}

export function sumCalls(calls: Iterable<AuditedCall>, by: readonly SumKey[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const call of calls) {
    const keys = by.map((key) => call[key]);
    const { millionths, currency } = parseMoney(call.price) ?? { millionths: 0, currency: '' };
    const key = [...keys, currency].join('\n');
    const sum = sums.get(key) ?? createSum(keys, currency);
    sums.set(key, sum);
    if (call.charged === 'no') sum.notSent += 1;
    else {
      sum.calls += 1;
      sum.amount += BigInt(millionths);
    }
    if (call.charged === 'yes') sum.charged += 1;
    if (call.charged === 'unknown') {
      sum.unknown += 1;
      sum.unknownAmount += BigInt(millionths);
    }
    if (call.outcome === 'open') sum.open += 1;
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

function createSum(keys: string[], currency: string): Sum {
  return { keys, currency, calls: 0, charged: 0, unknown: 0, open: 0, notSent: 0, amount: 0n, unknownAmount: 0n };
}
