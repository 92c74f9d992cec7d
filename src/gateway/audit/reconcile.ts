import { isIsoDate } from '../../base/calendar-period.ts';
import { createCsvParser } from '../../base/csv-parser.ts';
import { type ServiceName, serviceNames, UsageError } from '../../base/errors.ts';
import { openInputFile } from '../../base/input-file.ts';
import { type AuditedCall, sumCalls } from './read-audit.ts';

/** The calls that a provider reports, by day and service, joined by a space. */
export type ReportedCalls = ReadonlyMap<string, number>;

/**
 * Reads a table with the columns day and calls, and service unless that is given; several rows of a day are added up. The titles show whether
 * a comma, a semicolon or a tab separates cells.
 * @param isRead whether a day is read
 * @throws UsageError that names the line, and what would be right
 */
export async function readReported(
  path: string,
  only: ServiceName | undefined,
  isRead: (day: string) => boolean,
): Promise<ReportedCalls> {
  const file = await openInputFile(path, { ErrorType: UsageError, expected: 'a CSV file' });
  const columns = (titles: string[]) => titles.map((title) => title.toLowerCase());
  const options = {
    columns,
    bom: true,
    trim: true,
    skip_empty_lines: true,
    info: true,
    max_record_size: 10_000,
  };
  let parse: ParsePiece | null = null;
  const reported = new Map<string, number>();
  let line = 0;
  try {
    for await (const piece of file.chunks) {
      parse ??= createCsvParser<Row>({ ...options, delimiter: delimiterOf(String(piece)) });
      add(await parse(piece));
    }
    if (parse !== null) add(await parse(null));
  } finally {
    file.close();
  }
  if (reported.size === 0) throw new UsageError(`${path} has no row of these days`);
  return reported;

  function add({ rows, failure }: Awaited<ReturnType<ParsePiece>>): void {
    for (const { record, info } of rows) {
      line = info.lines;
      const { day = '', calls = '', service = only } = record;
      if (!isIsoDate(day) || !/^\d{1,12}$/.test(calls) || !serviceNames.some((name) => name === service)) {
        const found = JSON.stringify({ day: record.day, calls: record.calls, service });
        throw new UsageError(`${path}, line ${line}: must have ${expected}, but has ${found}`);
      }
      const key = `${day} ${service}`;
      if (isRead(day)) reported.set(key, (reported.get(key) ?? 0) + Number(calls));
    }
    if (failure !== null)
      throw new UsageError(`${path}, line ${line + 1}: a quotation mark is opened and never closed`);
  }
}

type Row = { record: Partial<Record<string, string>>; info: { lines: number } };
type ParsePiece = ReturnType<typeof createCsvParser<Row>>;

/** The separator of the titles. Numbers and names may contain the other ones. */
function delimiterOf(text: string): string {
  const [titles = ''] = text.trimStart().split(/\r?\n/, 1);
  const separates = (delimiter: string) => titles.split(delimiter).some((title) => /^\s*"?day"?\s*$/i.test(title));
  return [';', '\t', ','].find(separates) ?? ',';
}

const expected = `the columns day, such as 2026-11-27, calls, such as 1200, and service, ${serviceNames.join(' or ')}, unless --service names it`;

/** A day of a service. */
export interface ReconciledDay {
  day: string;
  service: string;
  /** By the provider. */
  reported: number;
  /** In the trail; and those of which it is unknown whether they were charged. */
  charged: number;
  unknown: number;
  /** `missing`: calls are missing in the trail; `more`: the trail has more. Unknown calls may be charged or not. */
  result: 'equal' | 'missing' | 'more';
}

/** Compares each day that either of them has, for the services that the provider reports. @param calls from its first to its last day */
export function reconcile(reported: ReportedCalls, calls: Iterable<AuditedCall>): ReconciledDay[] {
  const services = new Set([...reported.keys()].map((key) => key.slice(11)));
  const days = new Map([...reported].map(([key, count]) => [key, { reported: count, charged: 0, unknown: 0 }]));
  for (const { keys, charged, unknown } of sumCalls(calls, ['day', 'service'])) {
    if (!services.has(keys[1] ?? '') || charged + unknown === 0) continue;
    // There is a sum for each currency.
    const day = days.get(keys.join(' ')) ?? { reported: 0, charged: 0, unknown: 0 };
    days.set(keys.join(' '), { ...day, charged: day.charged + charged, unknown: day.unknown + unknown });
  }
  return [...days].toSorted().map(([key, counts]) => {
    const isMissing = counts.reported > counts.charged + counts.unknown;
    const result = isMissing ? 'missing' : counts.reported < counts.charged ? 'more' : 'equal';
    return { day: key.slice(0, 10), service: key.slice(11), ...counts, result };
  });
}
