import { type FileKind, type InputFile, openInputFile, openInputStream, recognizeKind } from '../base/input-file.ts';

/** Why a file cannot be checked. The message is a sentence without its full stop, for the operator. It contains no IBAN. */
export class PaymentFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PaymentFileError';
  }
}

export interface PaymentFile extends InputFile {
  kind: 'table' | 'workbook' | 'xml';
}

/** The name of standard input on the command line. */
export const standardInput = '-';

/** Opens a file, and recognizes its kind by its first bytes, not by its name. @throws PaymentFileError */
export async function openPaymentFile(path: string): Promise<PaymentFile> {
  if (path !== standardInput) return recognize(await openInputFile(path, { ErrorType: PaymentFileError }));
  return openPaymentStream('standard input', process.stdin, { close: () => void process.stdin.destroy() });
}

/** As `openPaymentFile`, for what arrives otherwise. @param name for messages */
export async function openPaymentStream(
  name: string,
  stream: AsyncIterable<Buffer | string>,
  options: Partial<Pick<PaymentFile, 'size' | 'close'>> = {},
): Promise<PaymentFile> {
  return recognize(await openInputStream(name, stream, { ...options, ErrorType: PaymentFileError }));
}

/** The bytes of a file that can be opened again. @throws PaymentFileError */
export async function* readPaymentFile(path: string): AsyncGenerator<Buffer> {
  const file = await openPaymentFile(path);
  try {
    yield* file.chunks;
  } finally {
    file.close();
  }
}

/** @throws PaymentFileError for a kind that cannot be checked */
function recognize(file: InputFile): PaymentFile {
  const found = recognizeKind(file.start);
  const problem = refusals[found] ?? (found === 'xml' ? findSpreadsheetMarkup(file.start) : undefined);
  if (problem === undefined) return { ...file, kind: kinds[found] ?? 'table' };
  file.close();
  throw new PaymentFileError(`${file.name} ${problem}`);
}

/** What programs save with the ending .xls, though it is another format. */
function findSpreadsheetMarkup(start: Buffer): string | undefined {
  const text = start.toString('latin1').replaceAll('\0', '');
  const advice = 'open it in a spreadsheet program, and save it as XLSX or CSV';
  if (text.includes('urn:schemas-microsoft-com:office:spreadsheet'))
    return `is in the XML format of Excel 2003; ${advice}`;
  return /<(?:!doctype\s+html|html|table|body|meta)[\s>]/i.test(text) ? `is an HTML page; ${advice}` : undefined;
}

const kinds: Partial<Record<FileKind, PaymentFile['kind']>> = { archive: 'workbook', xml: 'xml' };

const refusals: Partial<Record<FileKind, string>> = {
  'old-workbook': 'is in the old XLS format or has a password; save it as XLSX or CSV without a password',
  gzip: 'is compressed with gzip; unpack it first',
  pdf: 'is a PDF; expected CSV, TSV, XLSX or XML',
};
