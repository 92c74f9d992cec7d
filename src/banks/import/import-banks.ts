import { isoDateOf } from '../../base/calendar-period.ts';
import { createProgressBar } from '../../base/process/progress-bar.ts';
import { count, countOf, print } from '../../base/process/terminal.ts';
import { createBankLists } from '../bank-lists.ts';
import { countBanks } from '../listed-bank.ts';
import { type PaymentScheme, paymentSchemes } from '../scheme-registers.ts';
import { ImportError } from './files/bank-file.ts';
import { bankFileFormats, importableCountries } from './files/formats.ts';
import { readBankFile } from './files/read-bank-file.ts';
import { epcRegisters, readRegisterFile } from './files/read-register-file.ts';
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

${files.join('')}
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
