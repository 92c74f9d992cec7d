import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isoDateOf } from '../../base/calendar-period.ts';
import { errorCodeOf } from '../../base/errors.ts';
import type { InputFile } from '../../base/input-file.ts';
import { createProgressBar } from '../../base/process/progress-bar.ts';
import { count, countOf, print, printError } from '../../base/process/terminal.ts';
import { createBankLists } from '../bank-lists.ts';
import { countBanks } from '../listed-bank.ts';
import { type PaymentScheme, paymentSchemes } from '../scheme-registers.ts';
import { ImportError, openBankFile } from './files/bank-file.ts';
import type { BankFileFormat } from './files/bank-file-format.ts';
import { bankFileFormats, importableCountries } from './files/formats.ts';
import { readBankFile } from './files/read-bank-file.ts';
import {
  epcRegisters,
  findScheme,
  hasRegisterHeader,
  readRegisterFile,
  unknownScheme,
} from './files/read-register-file.ts';
import { findFormats } from './files/recognize.ts';
import { describeImport, describeRegisterImport } from './import-output.ts';
import { type PresentList, replaceImport, replaceRegister, undoImport } from './replace-import.ts';

interface ImportOptions {
  dataDir: string;
  path: string;
  /** ISO date of the list, for files that have none. */
  date?: string | undefined;
  /** Whether a file that is older, or has less than half of the present entries, is imported, too. */
  force: boolean;
}

/** Replaces the directory of one country with a downloaded file. @throws ImportError if nothing was changed */
export async function importBanks(options: ImportOptions & { country: string }): Promise<void> {
  const { dataDir, country, path, date, force } = options;
  const bar = createProgressBar(process.stderr, 'reading');
  const content = await readBankFile({ country, path, date, onProgress: bar.show }).finally(bar.clear);
  const { format, entries, validUntil, isComplete } = content;
  const size = countBanks(country, entries);
  let present = await findPresentList(country);
  const check = (replaced: PresentList | null) => {
    present = replaced ?? present;
    if (!force) rejectLossOfData(path, { of: country, kind: 'list', noun: 'bank', date: content.date, size }, present);
  };
  const list = { source: format.source, date: content.date, validUntil, isComplete };
  await replaceImport(dataDir, { country, ...list, entries, check });
  print(describeImport({ ...content, country, path, dataDir, before: present.size }));
}

/**
 * Replaces the register of one payment scheme with a downloaded file. Without a scheme, by the name of the file; without the date of
 * the download, today.
 * @throws ImportError if nothing was changed
 */
export async function importRegister(options: ImportOptions & { scheme?: PaymentScheme | undefined }): Promise<void> {
  const { dataDir, path, date = isoDateOf(), force } = options;
  const bar = createProgressBar(process.stderr, 'reading');
  const content = await readRegisterFile({ ...options, onProgress: bar.show }).finally(bar.clear);
  const { scheme, participants } = content;
  const { size } = participants;
  let before = 0;
  const check = (replaced: PresentList | null) => {
    before = replaced?.size ?? 0;
    if (force || replaced === null) return;
    rejectLossOfData(path, { of: scheme, kind: 'register', noun: 'participant', date, size }, replaced);
  };
  await replaceRegister(dataDir, { scheme, source: epcRegisters.source, date, participants, check });
  const isDateGiven = options.date !== undefined;
  print(describeRegisterImport({ ...content, path, date, isDateGiven, dataDir, before }));
}

interface NewList extends PresentList {
  /** The country or the scheme. */
  of: string;
  kind: 'list' | 'register';
  /** What it has. */
  noun: 'bank' | 'participant';
}

/** @throws ImportError for a list that is older than the present one, or has much less */
function rejectLossOfData(path: string, { of, kind, noun, date, size }: NewList, present: PresentList): void {
  const isOlder = date < present.date;
  if (!isOlder && size >= present.size / 2) return;
  const problem = isOlder
    ? `has the date ${date}, and is older than the present ${kind} of ${present.date}`
    : `has ${countOf(size, noun)}, less than half of the present ${count(present.size)}`;
  throw new ImportError(`${path} ${problem} of ${of}; if it is right, add --force`);
}

interface FolderOptions extends Pick<ImportOptions, 'dataDir' | 'force'> {
  folder: string;
}

/**
 * Imports each file of a folder that it recognizes by its content; folders in it are ignored. The failure of one file does
 * not stop the others.
 * @returns whether all files were imported but those whose content is of another kind
 * @throws ImportError if there is none
 */
export async function importFolder({ folder, ...options }: FolderOptions): Promise<boolean> {
  const files: KnownFile[] = [];
  for (const path of listFiles(folder)) files.push(await recognize(path));
  const known = files.filter(({ contents }) => contents.length > 0);
  const unknown = files.filter(({ contents }) => contents.length === 0);
  const failed = unknown.filter(({ problem }) => problem !== '');
  if (known.length === 0) throw new ImportError(`no file in ${folder} is recognized${describeProblems(failed)}`);

  let isComplete = failed.length === 0;
  for (const file of known) isComplete = (await importFile(file, known, options)) && isComplete;
  for (const file of unknown) print(describeUnknown(file));
  return isComplete;
}

interface WatchOptions extends FolderOptions {
  /** When to look at the folder. */
  looks: AsyncIterable<unknown>;
}

/**
 * Imports each new or changed file of a folder by itself, the oldest first, once two looks have found it unchanged: it may still be
 * written. A file that fails is reported, remains, and is read again when it changes.
 * @throws ImportError if the folder cannot be read
 */
export async function watchFolder({ folder, looks, ...options }: WatchOptions): Promise<void> {
  const read = new Map<string, string>();
  let before: ReadonlyMap<string, string> = new Map();
  for await (const _ of looks) {
    const editions = listFiles(folder).map((path) => [path, editionOf(path)] as const);
    const isReady = ([path, edition]: readonly [string, string]) =>
      before.get(path) === edition && read.get(path) !== edition;
    for (const [path, edition] of editions.filter(isReady).sort(byTime)) {
      read.set(path, edition);
      const file = await recognize(path);
      if (file.contents.length === 0) printError(describeUnknown(file));
      else await importFile(file, [file], options);
    }
    before = new Map(editions);
  }
}

/** Changes with the content of the file: its time in milliseconds, and its size. */
function editionOf(path: string): string {
  try {
    const { mtimeMs, size } = statSync(path);
    return `${mtimeMs} ${size}`;
  } catch {
    // Reading it fails with a reason.
    return '0 0';
  }
}

function byTime([, a]: readonly [string, string], [, b]: readonly [string, string]): number {
  return Number.parseFloat(a) - Number.parseFloat(b);
}

/** @returns whether all its contents were imported */
async function importFile(file: KnownFile, files: readonly KnownFile[], options: Omit<FolderOptions, 'folder'>) {
  const { path } = file;
  let isComplete = true;
  for (const content of file.contents) {
    print(`${path}: ${content.of}, ${content.title}\n`);
    try {
      rejectSecondFile(files, file, content);
      await content.import({ ...options, path });
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      printError(`Nothing was imported for ${content.of}: ${error.message}.\n`);
      isComplete = false;
    }
  }
  return isComplete;
}

function describeUnknown({ path, problem }: KnownFile): string {
  return `Not recognized: ${path}${problem && ` (${problem})`}\n`;
}

interface KnownFile {
  path: string;
  /** Empty if it is not recognized. */
  contents: readonly FileContent[];
  /** Why it cannot be read; empty if it is recognized, or has another content. */
  problem: string;
}

/** The banks of a country, or the register of a payment scheme. */
interface FileContent {
  /** The country or the scheme. */
  of: string;
  /** What it has, as part of a sentence. */
  noun: 'banks' | 'participants';
  title: string;
  import(options: Pick<ImportOptions, 'dataDir' | 'path' | 'force'>): Promise<void>;
}

function describeProblems(failed: readonly KnownFile[]): string {
  if (failed.length === 0) return '';
  const [listed, more] = [failed.slice(0, maxListedProblems), failed.length - maxListedProblems];
  const problems = listed.map(({ path, problem }) => `${path} (${problem})`);
  return `: ${problems.join('; ')}${more > 0 ? `; and ${count(more)} more` : ''}`;
}

const maxListedProblems = 10;

/** Without hidden files. @throws ImportError */
function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(folder, name))
      .filter(mayBeFile)
      .sort();
  } catch (error) {
    throw new ImportError(`${folder} must be a folder that can be read (${errorCodeOf(error) ?? error})`);
  }
}

/** A pipe in the folder, or behind a link, may have no writer, and would be waited for. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Reading it fails with a reason.
    return true;
  }
}

async function recognize(path: string): Promise<KnownFile> {
  let file: InputFile | null = null;
  try {
    file = await openBankFile(path);
    if (await hasRegisterHeader(file)) return recognizeRegister(path);
    const formats = await findFormats(file, bankFileFormats());
    const titles = [...new Set(formats.map(({ title }) => title))];
    if (titles.length <= 1) return { path, contents: formats.map(banksOf), problem: '' };
    return { path, contents: [], problem: `it may be ${titles.join(' or ')}; import it with its country` };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { path, contents: [], problem: error.message };
  } finally {
    file?.close();
  }
}

function banksOf({ country, title }: BankFileFormat): FileContent {
  return { of: country, noun: 'banks', title, import: (options) => importBanks({ ...options, country }) };
}

function recognizeRegister(path: string): KnownFile {
  const scheme = findScheme(basename(path));
  if (scheme === null) return { path, contents: [], problem: `it ${unknownScheme}` };
  const { title } = epcRegisters;
  const content: FileContent = { of: scheme, noun: 'participants', title, import: importRegister };
  return { path, contents: [content], problem: '' };
}

/** @throws ImportError if another file has the same content, since either may be the older one */
function rejectSecondFile(files: readonly KnownFile[], file: KnownFile, { of, noun }: FileContent): void {
  const other = files.find((each) => each !== file && each.contents.some((content) => content.of === of));
  if (other) throw new ImportError(`${other.path} has the ${noun} of ${of}, too; leave one of the two in the folder`);
}

/** Restores the directory that the last import of a country replaced. @throws ImportError without an import */
export async function undoLastImport(dataDir: string, country: string): Promise<void> {
  const before = await findPresentList(country, dataDir);
  await undoImport(dataDir, 'banks', country);
  const now = await findPresentList(country, dataDir);
  printRestored(`banks of ${country}`, before.size, now.size);
}

/** Restores the register that the last import of a scheme replaced. @throws ImportError without an import */
export async function undoRegisterImport(dataDir: string, scheme: PaymentScheme): Promise<void> {
  const { before, now } = await undoImport(dataDir, 'participants', scheme);
  printRestored(`participants of ${scheme}`, before, now);
}

function printRestored(what: string, before: number, now: number): void {
  print(`Restored the ${what}: was ${count(before)}, now ${count(now)}. To undo this, run it again.\n`);
}

/** The files that can be imported, with the addresses of their publishers. */
export function describeBankFiles(): string {
  const files = importableCountries().map((country) => {
    const [{ title, download } = { title: '', download: '' }] = bankFileFormats(country).slice(-1);
    return `${country}  ${title}\n    ${download}\n`;
  });
  return `Download the file of a country, then run:
  ledgerquill import-banks COUNTRY FILE
With --all FOLDER, each file of a folder is imported for its countries.\n\n${files.join('')}
A register of participants in a payment scheme (${paymentSchemes.join(', ')}) is imported with EPC in place of the country:

EPC  ${epcRegisters.title}\n    ${epcRegisters.download}\n`;
}

/** The list of the package, or the import of the folder. */
async function findPresentList(country: string, dataDir?: string): Promise<PresentList> {
  const lists = createBankLists(dataDir === undefined ? {} : { dataDir });
  try {
    return { size: countBanks(country, lists.banks(country)), date: lists.status(country)?.date ?? '' };
  } finally {
    await lists.close();
  }
}
