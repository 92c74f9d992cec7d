import type { BankEntry } from '../../../../bank-lists/listed-bank.ts';
import { type BankFile, ImportError, openBankFile } from './bank-file.ts';
import type { BankFileFormat } from './bank-file-format.ts';
import { bankFileFormats, importableCountries } from './formats.ts';
import { readSheets } from './sheets.ts';
import { findTable, readRow } from './table.ts';

/** The content of a file with the banks of one country. */
export interface BankFileContent {
  format: Pick<BankFileFormat, 'title' | 'source' | 'attribution'>;
  entries: readonly BankEntry[];
  /** Number of rows, without blank ones and the header. */
  rows: number;
  /** Number of skipped rows, by reason. */
  skipped: ReadonlyMap<string, number>;
}

interface ReadOptions {
  country: string;
  path: string;
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  rows: number;
  bytes: number;
  /** In bytes; null if unknown. */
  size: number | null;
}

/** Reads a file that a national bank or a banking association publishes, row by row. @throws ImportError */
export async function readBankFile({ country, path, onProgress }: ReadOptions): Promise<BankFileContent> {
  const formats = bankFileFormats(country);
  if (formats.length === 0) {
    throw new ImportError(
      `there is no import for the country "${country}"; there is one for ${importableCountries().join(', ')}`,
    );
  }
  const file = await openBankFile(path);
  try {
    return await readRows(file, chooseFormat(formats, file), onProgress);
  } finally {
    file.close();
  }
}

async function readRows(file: BankFile, format: BankFileFormat, onProgress: ReadOptions['onProgress']) {
  const progress: Progress = { rows: 0, bytes: 0, size: file.size };
  const table = await findTable(await readSheets(withByteCount(file, progress), format), format, file.name);
  const entries = new Map<string, BankEntry>();
  const skipped = new Map<string, number>();
  for await (const row of table.rows) {
    const content = readRow(row, table, format);
    if ('entry' in content && !entries.has(content.entry.bankCode)) entries.set(content.entry.bankCode, content.entry);
    else {
      const reason = 'entry' in content ? 'further rows of an imported bank code' : content.skipReason;
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    progress.rows += 1;
    if (progress.rows % rowsPerProgress === 0) onProgress?.(progress);
  }
  onProgress?.(progress);
  rejectOtherCountries(file.name, format, [...entries.values()]);
  return { format, entries: [...entries.values()], rows: progress.rows, skipped };
}

const rowsPerProgress = 500;

function chooseFormat(formats: readonly BankFileFormat[], { start }: BankFile): BankFileFormat {
  const firstLine = start.toString('latin1').split(/\r?\n/, 1)[0] ?? '';
  const format = formats.find(({ matches }) => matches?.(firstLine)) ?? formats.at(-1);
  if (format === undefined) throw new Error('a country without formats has no import');
  return format;
}

function withByteCount(file: BankFile, progress: Progress): BankFile {
  async function* chunks() {
    for await (const chunk of file.chunks) {
      progress.bytes += chunk.length;
      yield chunk;
    }
  }
  return { ...file, chunks: chunks() };
}

/** Files without titles look the same, but their BICs show the country; a few may belong to branches of foreign banks. */
function rejectOtherCountries(name: string, { country, title }: BankFileFormat, entries: readonly BankEntry[]): void {
  if (entries.length === 0) throw new ImportError(`${name} contains no bank of ${country}; expected ${title}`);
  const countries = entries.flatMap(({ bic }) => (bic === '' ? [] : [bic.slice(4, 6)]));
  const own = countries.filter((code) => code === country).length;
  if (own * 2 >= countries.length) return;
  const others = [...new Set(countries)].filter((code) => code !== country).sort();
  throw new ImportError(
    `${name} is not a file of ${country}: ${countries.length - own} of its ${countries.length} BICs are of ` +
      `${others.slice(0, 5).join(', ')}; expected ${title}`,
  );
}
