import { isoDateOf } from '../../../base/calendar-period.ts';
import type { InputFile } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';
import type { BankEntry } from '../../listed-bank.ts';
import { type Faults, ImportError, type OnProgress, openBankFile, readEachRow, rejectFaults } from './bank-file.ts';
import { type BankFileFormat, ofOtherCountry } from './bank-file-format.ts';
import { bankFileFormats, importableCountries } from './formats.ts';
import { findDateInName, findDateInRows, mostFrequentDate } from './list-date.ts';
import { countriesOfBics, findFormat, hasBicsOf, hasKind, readSheets } from './recognize.ts';
import { findTable, readRow, type Table } from './table.ts';

/** The content of a file with the banks of one country. */
export interface BankFileContent {
  format: Pick<BankFileFormat, 'title' | 'source' | 'attribution'>;
  entries: readonly BankEntry[];
  /** Number of rows, without blank ones and the header. */
  rows: number;
  /** Number of skipped rows, by reason. */
  skipped: ReadonlyMap<string, number>;
  faults: Faults;
  /** ISO date of the list. */
  date: string;
  dateOrigin: 'file' | 'file name' | 'option' | 'import';
  /** ISO date of the last day of the list. */
  validUntil: string;
  /** Whether the list has all bank codes that IBANs of the country contain. */
  isComplete: boolean;
}

interface ReadOptions {
  country: string;
  path: string;
  /** ISO date of the list, if it is known. */
  date?: string | undefined;
  /** ISO date of the import. */
  today?: string;
  onProgress?: OnProgress;
}

/** Reads a file that a national bank or a banking association publishes, row by row. @throws ImportError */
export async function readBankFile({ country, path, onProgress, ...dates }: ReadOptions): Promise<BankFileContent> {
  const formats = bankFileFormats(country);
  if (formats.length === 0) {
    throw new ImportError(
      `there is no import for the country "${country}"; there is one for ${importableCountries().join(', ')}`,
    );
  }
  const file = await openBankFile(path);
  try {
    const format = await chooseFormat(formats, file);
    const { above, listDates, ...content } = await readRows(file, format, onProgress);
    const list = dateList(file.name, format, { above, listDates, ...dates });
    // A list of unknown age may be older than the banks that it lacks.
    const isComplete = format.isComplete && content.faults.leftOut === 0 && list.dateOrigin !== 'import';
    return { format, ...content, ...list, isComplete };
  } finally {
    file.close();
  }
}

/** The last of several formats is used for files that no other matches. */
async function chooseFormat(formats: readonly BankFileFormat[], file: InputFile): Promise<BankFileFormat> {
  const fitting = formats.filter(({ layout }) => hasKind(file, layout));
  const format = (fitting.length > 1 ? await findFormat(file, fitting) : null) ?? fitting.at(-1) ?? formats.at(-1);
  if (format === undefined) throw new Error('a country without formats has no import');
  return format;
}

interface Rows extends Pick<BankFileContent, 'entries' | 'rows' | 'skipped' | 'faults'>, Pick<Table, 'above'> {
  /** How often the rows have each date. */
  listDates: ReadonlyMap<string, number>;
}

async function readRows(file: InputFile, format: BankFileFormat, onProgress?: OnProgress): Promise<Rows> {
  const sheets = await readSheets(file, format.layout);
  const table = await findTable(sheets, format, file.name);
  const entries = createEntries(file.name);
  const skipped = new Map<string, number>();
  const listDates = new Map<string, number>();
  let section = format.sections?.first ?? format.country;

  const { rows, faults } = await readEachRow(file, table, onProgress, (row) => {
    section = format.sections?.find(row) ?? section;
    const content = section === format.country ? readRow(row, table, format) : otherSection;
    if ('skipReason' in content) addOne(skipped, content.skipReason);
    if ('entry' in content) {
      addOne(listDates, content.listDate);
      const { added, other } = entries.add(content);
      if (other !== null) return { problem: otherBank(content, other), isLeftOut: true };
      if (added === 0) addOne(skipped, 'further rows of an imported bank code');
    }
    const problem = 'problem' in content ? content.problem : undefined;
    return problem === undefined ? null : { problem, isLeftOut: !('entry' in content) };
  });
  rejectFaults(file.name, rows - (skipped.get(ofOtherCountry) ?? 0), faults);
  const banks = entries.all();
  rejectOtherCountries(file.name, format, banks);
  const completed = format.complete?.(banks) ?? banks;
  return { entries: completed, rows, skipped, faults, above: table.above, listDates };
}

const otherSection = { skipReason: ofOtherCountry };

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function otherBank({ entry, lastCode }: { entry: BankEntry; lastCode: string }, { name }: BankEntry): string {
  return entry.bankCode === lastCode
    ? `its bank code is in a range of ${name}`
    : `its range has a bank code of ${name}`;
}

/** The banks by code; a bank with a range of codes has an entry for each. */
function createEntries(fileName: string) {
  const byCode = new Map<string, BankEntry>();
  const codesOfRanges = new Set<string>();
  let codesInRanges = 0;
  return {
    /**
     * Adds a bank under those of its codes that are not known yet.
     * @returns how many codes were added; and another bank that has one of a range, or a range with the code, in which case
     * none is added
     * @throws ImportError
     */
    add({ entry, lastCode }: { entry: BankEntry; lastCode: string }): { added: number; other: BankEntry | null } {
      const [first, last] = [Number(entry.bankCode), Number(lastCode)];
      const isRange = entry.bankCode !== lastCode;
      if (isRange) codesInRanges += last - first + 1;
      if (codesInRanges > maxCodesInRanges) {
        throw new ImportError(
          `${fileName}: its ranges have more than ${count(maxCodesInRanges)} bank codes, the limit for a file`,
        );
      }
      const codes = isRange
        ? Array.from({ length: last - first + 1 }, (_, index) => String(first + index).padStart(lastCode.length, '0'))
        : [lastCode];
      const other = codes
        .filter((bankCode) => isRange || codesOfRanges.has(bankCode))
        .flatMap((bankCode) => byCode.get(bankCode) ?? [])
        .find(({ name }) => name !== entry.name);
      if (other !== undefined) return { added: 0, other };
      if (isRange) for (const bankCode of codes) codesOfRanges.add(bankCode);
      const missing = codes.filter((bankCode) => !byCode.has(bankCode));
      for (const bankCode of missing) byCode.set(bankCode, { ...entry, bankCode });
      return { added: missing.length, other: null };
    },
    all: () => [...byCode.values()],
  };
}

/** Twice all bank codes of four digits, as one range may be wrong. */
const maxCodesInRanges = 20_000;

/** Files without titles look the same, but their BICs show the country; a few may belong to branches of foreign banks. */
function rejectOtherCountries(name: string, format: BankFileFormat, entries: readonly BankEntry[]): void {
  const { country, title, isShared = false } = format;
  if (entries.length === 0) throw new ImportError(`${name} contains no bank of ${country}; expected ${title}`);
  if (isShared || hasBicsOf(country, entries)) return;
  const countries = countriesOfBics(entries);
  const others = [...new Set(countries)].filter((code) => code !== country).sort();
  throw new ImportError(
    `${name} is not a file of ${country}: ${countries.filter((code) => code !== country).length} of its ` +
      `${countries.length} BICs are of ${others.slice(0, 5).join(', ')}; expected ${title}`,
  );
}

/** By the content of the file, by its name, or by the day of the import. */
function dateList(
  name: string,
  { cadence, dateInName }: BankFileFormat,
  sources: Pick<Rows, 'above' | 'listDates'> & Pick<ReadOptions, 'date' | 'today'>,
): Pick<BankFileContent, 'date' | 'dateOrigin' | 'validUntil'> {
  const { above, listDates, date, today = isoDateOf() } = sources;
  const inFile = mostFrequentDate(listDates, today) ?? findDateInRows(above, today);
  const inName = findDateInName(name, dateInName, today);
  const found = date ?? inFile ?? inName ?? today;
  const dateOrigin = date ? 'option' : inFile ? 'file' : inName ? 'file name' : 'import';
  return { date: found, dateOrigin, validUntil: cadence.lastDay(found, today) };
}
