import { createBankDirectory } from './directory/bank-directory.ts';
import { ImportError } from './directory/files/bank-file.ts';
import { bankFileFormats, importableCountries } from './directory/files/formats.ts';
import { readBankFile } from './directory/files/read-bank-file.ts';
import { replaceImport, undoImport } from './directory/replace-import.ts';
import { count, countOf, createProgressBar, describeImport } from './import-output.ts';

interface ImportOptions {
  dataDir: string;
  country: string;
  path: string;
  /** Whether a file with less than half of the present banks is imported, too. */
  force: boolean;
}

/** Replaces the directory of one country with a downloaded file. @throws ImportError if nothing was changed */
export async function importBanks({ dataDir, country, path, force }: ImportOptions): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const bar = createProgressBar(process.stderr);
  const content = await readBankFile({ country, path, onProgress: bar.show }).finally(bar.clear);
  const shipped = await countBanks(country);
  const now = content.entries.length;
  let before = shipped;
  const check = (replaced: number | null) => {
    before = replaced ?? shipped;
    if (force || now >= before / 2) return;
    throw new ImportError(
      `${path} has ${countOf(now, 'bank')}, less than half of the present ${count(before)} of ${country}; ` +
        'if it is complete, add --force',
    );
  };
  await replaceImport(dataDir, { country, source: content.format.source, date, entries: content.entries, check });
  process.stdout.write(describeImport({ ...content, country, path, date, dataDir, before }));
}

/** Restores the directory that the last import of a country replaced. @throws ImportError without an import */
export async function undoLastImport(dataDir: string, country: string): Promise<void> {
  const before = await countBanks(country, dataDir);
  if (!(await undoImport(dataDir, country))) throw new ImportError(`no import of ${country} can be undone`);
  const now = await countBanks(country, dataDir);
  process.stdout.write(
    `Restored the banks of ${country}: was ${count(before)}, now ${count(now)}. To undo this, run it again.\n`,
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
  npm run import-banks -- COUNTRY FILE    (from source)\n\n${files.join('')}`;
}

/** Of the list in the package, or of an import in the folder. */
async function countBanks(country: string, dataDir?: string): Promise<number> {
  const directory = createBankDirectory(dataDir === undefined ? {} : { dataDir });
  try {
    return directory.listBanks({ country, first: 0 }).total;
  } finally {
    await directory.close();
  }
}
