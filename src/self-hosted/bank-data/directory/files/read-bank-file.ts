import type { BankEntry } from '../../../../bank-lists/listed-bank.ts';
import { ImportError } from '../import-error.ts';
import type { BankFileFormat } from './bank-file-format.ts';
import { bankFileFormats, importableCountries } from './bank-file-formats.ts';
import { findTable } from './find-table.ts';
import { judgeRow } from './judge-row.ts';
import { type BankFile, openBankFile } from './open-bank-file.ts';
import { readSheets } from './read-sheets.ts';

/** What a file says about the banks of one country. */
export interface BankFileContent {
  format: Pick<BankFileFormat, 'title' | 'source' | 'attribution'>;
  entries: readonly BankEntry[];
  /** Rows that were read, without blank ones and the header. */
  rows: number;
  /** How many of them were not taken, by reason. */
  leftOut: ReadonlyMap<string, number>;
}

interface ReadOptions {
  country: string;
  path: string;
  onProgress?: (progress: Progress) => void;
}

export interface Progress {
  rows: number;
  bytes: number;
  /** In bytes; null where nobody knows. */
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
  const table = await findTable(await readSheets(counted(file, progress), format), format, file.name);
  const entries = new Map<string, BankEntry>();
  const leftOut = new Map<string, number>();
  for await (const row of table.rows) {
    const judgement = judgeRow(row, table, format);
    const isTaken = 'entry' in judgement && !entries.has(judgement.entry.bankCode);
    if (isTaken) entries.set(judgement.entry.bankCode, judgement.entry);
    else {
      const reason = 'entry' in judgement ? 'further rows of a bank code that was taken already' : judgement.leftOut;
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    }
    progress.rows += 1;
    if (progress.rows % rowsPerProgress === 0) onProgress?.(progress);
  }
  onProgress?.(progress);
  refuseOtherCountries(file.name, format, [...entries.values()]);
  return { format, entries: [...entries.values()], rows: progress.rows, leftOut };
}

const rowsPerProgress = 500;

function chooseFormat(formats: readonly BankFileFormat[], { start }: BankFile): BankFileFormat {
  const firstLine = start.toString('latin1').split(/\r?\n/, 1)[0] ?? '';
  const format = formats.find(({ recognises }) => recognises?.(firstLine)) ?? formats.at(-1);
  if (format === undefined) throw new Error('a country without formats has no import');
  return format;
}

function counted(file: BankFile, progress: Progress): BankFile {
  async function* chunks() {
    for await (const chunk of file.chunks) {
      progress.bytes += chunk.length;
      yield chunk;
    }
  }
  return { ...file, chunks: chunks() };
}

/** Files without titles look alike; what they cannot hide is the country of the BICs, a few branches from abroad aside. */
function refuseOtherCountries(name: string, { country, title }: BankFileFormat, entries: readonly BankEntry[]): void {
  if (entries.length === 0) throw new ImportError(`${name} holds no bank of ${country}; expected ${title}`);
  const countries = entries.flatMap(({ bic }) => (bic === '' ? [] : [bic.slice(4, 6)]));
  const own = countries.filter((code) => code === country).length;
  if (own * 2 >= countries.length) return;
  const others = [...new Set(countries)].filter((code) => code !== country).sort();
  throw new ImportError(
    `${name} is not a file of ${country}: ${countries.length - own} of its ${countries.length} BICs are of ` +
      `${others.slice(0, 5).join(', ')}; expected ${title}`,
  );
}
