import { createProgressBar } from '../../base/process/progress-bar.ts';
import { count, countOf, print } from '../../base/process/terminal.ts';
import type { PaymentScheme } from '../scheme-registers.ts';
import { ImportError } from './files/bank-file.ts';
import { epcRegisters, readRegisterFile } from './files/read-register-file.ts';
import { describeRegisterImport } from './import-output.ts';
import { type PresentRegister, replaceRegister, undoRegister } from './replace-import.ts';

interface RegisterOptions {
  dataDir: string;
  path: string;
  /** Absent: by the name of the file. */
  scheme?: PaymentScheme | undefined;
  /** ISO date of the download; absent: today. */
  date?: string | undefined;
  /** Whether a file that is older, or has less than half of the present participants, is imported, too. */
  force: boolean;
}

/** Replaces the register of one payment scheme with a downloaded file. @throws ImportError if nothing was changed */
export async function importRegister({
  dataDir,
  path,
  scheme: givenScheme,
  date: givenDate,
  force,
}: RegisterOptions): Promise<void> {
  const bar = createProgressBar(process.stderr, 'reading');
  const content = await readRegisterFile({ path, scheme: givenScheme, onProgress: bar.show }).finally(bar.clear);
  const { scheme, participants } = content;
  const date = givenDate ?? new Date().toISOString().slice(0, 10);
  let before = 0;
  const check = (replaced: PresentRegister | null) => {
    before = replaced?.participants ?? 0;
    const problem = force || replaced === null ? null : findLossOfData(date, participants.size, replaced);
    if (problem !== null) throw new ImportError(`${path} ${problem} of ${scheme}; if it is right, add --force`);
  };
  await replaceRegister(dataDir, { scheme, source: epcRegisters.source, date, participants, check });
  print(describeRegisterImport({ ...content, path, date, isDateGiven: givenDate !== undefined, dataDir, before }));
}

function findLossOfData(date: string, participants: number, present: PresentRegister): string | null {
  if (date < present.date) return `has the date ${date}, and is older than the present register of ${present.date}`;
  if (participants >= present.participants / 2) return null;
  return `has ${countOf(participants, 'participant')}, less than half of the present ${count(present.participants)}`;
}

/** Restores the register that the last import of a scheme replaced. @throws ImportError without an import */
export async function undoRegisterImport(dataDir: string, scheme: PaymentScheme): Promise<void> {
  const sizes = await undoRegister(dataDir, scheme);
  if (sizes === null) throw new ImportError(`no import of ${scheme} can be undone`);
  const [before, now] = [count(sizes.before), count(sizes.now)];
  print(`Restored the participants of ${scheme}: was ${before}, now ${now}. To undo this, run it again.\n`);
}
