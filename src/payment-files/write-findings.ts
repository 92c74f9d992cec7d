import { stringify } from 'csv-stringify/sync';
import { neutralize } from './cells.ts';
import type { Finding } from './finding.ts';
import { PaymentFileError } from './open-file.ts';
import type { OutputFormat } from './write-rows.ts';

/** The findings of a payment message, one a line. */
export interface FindingWriter {
  /** What comes before the first finding. */
  begin(): string;
  write(finding: Finding): string;
}

/** @throws PaymentFileError for a workbook */
export function createFindingWriter(format: OutputFormat, fileName: string): FindingWriter {
  if (format === 'xlsx') {
    throw new PaymentFileError(`${fileName} is an XML file, whose findings are written with --format json or csv`);
  }
  if (format === 'json')
    return { begin: () => '', write: (finding) => `${JSON.stringify(toLine(fileName, finding))}\n` };
  return {
    begin: () => stringify([titles]),
    write(finding) {
      const line = toLine(fileName, finding);
      return stringify([titles.map((title) => neutralize(String(line[title] ?? '')))]);
    },
  };
}

const titles = ['file', 'code', 'severity', 'line', 'xpath', 'message', 'suggestion'] as const;

function toLine(file: string, { code, severity, place, message, suggestion }: Finding) {
  const { line, xpath } = 'xpath' in place ? place : { line: place.row, xpath: null };
  return { file, code, severity, line, xpath, message, suggestion };
}
