import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorCodeOf } from '../../base/errors.ts';
import { createProgressBar } from '../../base/process/progress-bar.ts';
import { count, countOf, print, printError } from '../../base/process/terminal.ts';
import { createBankLists } from '../bank-lists.ts';
import { countBanks } from '../listed-bank.ts';
import { paymentSchemes } from '../scheme-registers.ts';
import { ImportError } from './files/bank-file.ts';
import type { BankFileFormat } from './files/bank-file-format.ts';
import { bankFileFormats, importableCountries } from './files/formats.ts';
import { readBankFile } from './files/read-bank-file.ts';
import { epcRegisters, findScheme, isRegisterFile, unknownScheme } from './files/read-register-file.ts';
import { recognizeFile } from './files/recognize.ts';
import { describeImport } from './import-output.ts';
import { importRegister } from './import-register.ts';
import { type PresentList, replaceImport, undoImport } from './replace-import.ts';

interface ImportOptions {
  dataDir: string;
  country: string;
  path: string;
  /** ISO date of the list, for files that have none. */
  date?: string | undefined;
  /** Whether a file that is older, or has less than half of the present banks, is imported, too. */
  force: boolean;
}

/** Replaces the directory of one country with a downloaded file. @throws ImportError if nothing was changed */
export async function importBanks({ dataDir, country, path, date, force }: ImportOptions): Promise<void> {
  const bar = createProgressBar(process.stderr, 'reading');
  const content = await readBankFile({ country, path, date, onProgress: bar.show }).finally(bar.clear);
  const { format, entries, validUntil, isComplete } = content;
  const banks = countBanks(country, entries);
  const shipped = await findPresentList(country);
  let present = shipped;
  const check = (replaced: PresentList | null) => {
    present = replaced ?? shipped;
    const problem = force ? null : findLossOfData(content.date, banks, present);
    if (problem !== null) throw new ImportError(`${path} ${problem} of ${country}; if it is right, add --force`);
  };
  const list = { source: format.source, date: content.date, validUntil, isComplete };
  await replaceImport(dataDir, { country, ...list, entries, check });
  print(describeImport({ ...content, country, path, dataDir, before: present.banks }));
}

function findLossOfData(date: string, banks: number, present: PresentList): string | null {
  if (date < present.date) return `has the date ${date}, and is older than the present list of ${present.date}`;
  if (banks >= present.banks / 2) return null;
  return `has ${countOf(banks, 'bank')}, less than half of the present ${count(present.banks)}`;
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
  for (const file of known) {
    const { path } = file;
    for (const content of file.contents) {
      print(`${path}: ${content.of}, ${content.title}\n`);
      try {
        rejectSecondFile(known, file, content);
        await content.import({ ...options, path });
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        printError(`Nothing was imported for ${content.of}: ${error.message}.\n`);
        isComplete = false;
      }
    }
  }
  for (const { path, problem } of unknown) {
    print(`Not recognized: ${path}${problem && ` (${problem})`}\n`);
  }
  return isComplete;
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
  try {
    if (await isRegisterFile(path)) return recognizeRegister(path);
    const formats = await recognizeFile(path);
    const titles = [...new Set(formats.map(({ title }) => title))];
    if (titles.length <= 1) return { path, contents: formats.map(banksOf), problem: '' };
    return { path, contents: [], problem: `it may be ${titles.join(' or ')}; import it with its country` };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { path, contents: [], problem: error.message };
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
  if (!(await undoImport(dataDir, country))) throw new ImportError(`no import of ${country} can be undone`);
  const now = await findPresentList(country, dataDir);
  print(
    `Restored the banks of ${country}: was ${count(before.banks)}, now ${count(now.banks)}. To undo this, run it again.\n`,
  );
}

/** The files that can be imported, with the addresses of their publishers. */
export function describeBankFiles(): string {
  const files = importableCountries().map((country) => {
    const [{ title, download } = { title: '', download: '' }] = bankFileFormats(country).slice(-1);
    return `${country}  ${title}\n    ${download}\n`;
  });
  return `Download the file of a country, then run one of:
  ledgerquill import-banks COUNTRY FILE
  npm run import-banks -- COUNTRY FILE    (from source)
With --all FOLDER, each file of a folder is imported for its countries.\n\n${files.join('')}
A register of participants in a payment scheme (${paymentSchemes.join(', ')}) is imported with EPC in place of the country:

EPC  ${epcRegisters.title}\n    ${epcRegisters.download}\n`;
}

/** The list of the package, or the import of the folder. */
async function findPresentList(country: string, dataDir?: string): Promise<PresentList> {
  const lists = createBankLists(dataDir === undefined ? {} : { dataDir });
  try {
    return { banks: countBanks(country, lists.banks(country)), date: lists.status(country)?.date ?? '' };
  } finally {
    await lists.close();
  }
}
