import { type InputFile, openInputFile, openInputStream } from '../base/input-file.ts';

/** Why a file cannot be checked. The message is a sentence without its full stop, for the operator. It contains no IBAN. */
export class PaymentFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PaymentFileError';
  }
}

type FileKind = 'table' | 'workbook' | 'xml';

export interface PaymentFile extends InputFile {
  kind: FileKind;
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

function recognize(file: InputFile): PaymentFile {
  try {
    return { ...file, kind: recognizeKind(file.name, file.start) };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The only place that recognizes what a file is. @throws PaymentFileError for a kind that cannot be checked */
function recognizeKind(name: string, start: Buffer): FileKind {
  const signature = start.subarray(0, 4).toString('hex');
  if (/^504b0[357]/.test(signature)) return 'workbook';
  if (signature === 'd0cf11e0') {
    throw new PaymentFileError(
      `${name} is in the old XLS format or has a password; save it as XLSX or CSV without a password`,
    );
  }
  if (signature.startsWith('1f8b')) throw new PaymentFileError(`${name} is compressed with gzip; unpack it first`);
  if (signature === '25504446') throw new PaymentFileError(`${name} is a PDF; expected CSV, TSV, XLSX or XML`);
  // After a byte order mark, and between the zeros of UTF-16.
  const [first] = start.toString('latin1').replace(/^[\xff\xfe\xef\xbb\xbf\0\s]+/, '');
  return first === '<' ? 'xml' : 'table';
}
