import type { KnownBanks } from '../banks/known-banks.ts';
import type { ProgressBar } from '../base/process/progress-bar.ts';
import { countOf } from '../base/process/terminal.ts';
import type { Answers } from '../check/answers/answers.ts';
import { FindingCounts } from '../check/finding.ts';
import { openPaymentFile, type PaymentFile, PaymentFileError, readPaymentFile } from '../check/open-file.ts';
import { type Output, openOutputFile } from '../check/output.ts';
import { checkMessage } from '../check/pain/check-message.ts';
import type { Change } from '../check/pain/copy-message.ts';
import { fixMessage } from '../check/pain/fix-message.ts';
import type { Profile } from '../check/pain/profiles.ts';
import { renovateMessage } from '../check/pain/renovate-message.ts';
import { Refusal } from '../check/pain/rules.ts';
import { readStatusReport, type StatusReport } from '../check/pain/status-report.ts';
import { describeMessage } from '../check/tally.ts';
import { createFindingWriter, type OutputFormat } from '../check/write-results.ts';

export interface CheckedFile {
  /** Lines for people. */
  summary: readonly string[];
  findings: FindingCounts;
  /** Whether it cannot be read to its end. */
  isBroken: boolean;
  /** Whether the service has answered for all well-formed IBANs that were read. */
  isAnswered: boolean;
}

/** With what is certain repaired, or in the version of 2019. */
export interface MessageCopy {
  kind: 'fix' | 'renovate';
  path: string;
}

interface MessageFileOptions {
  answers: Answers;
  banks: KnownBanks;
  /** The ids of the messages before it. */
  messageIds: Set<string>;
  profile: Profile;
  /** What a bank says about the message. */
  report: StatusReport | null;
  /** The file for a copy, which is then checked; null: the message itself is checked. */
  copy: MessageCopy | null;
  /** Null: a table on a terminal, otherwise JSON. */
  format: OutputFormat | null;
  isTerminal: boolean;
  /** For findings and changes; null: they are only counted. */
  output: Output | null;
  bar: ProgressBar;
  throwIfInterrupted(): void;
}

/** Checks a payment message, or its copy. @throws PaymentFileError */
export async function checkMessageFile(file: PaymentFile, options: MessageFileOptions): Promise<CheckedFile> {
  const { copy } = options;
  if (copy === null) return checkMessageIn(file, options);
  const changes = await writeCopy(file.name, copy, options);
  const copied = changes === null ? file : await openPaymentFile(copy.path);
  try {
    const checked = await checkMessageIn(copied, options);
    const outcome = changes === null ? 'no copy was written' : `${countOf(changes, 'change')} in ${copy.path}`;
    return { ...checked, summary: [`${file.name}: ${outcome}`, ...checked.summary] };
  } finally {
    copied.close();
  }
}

/** @returns the number of changes; null if the file cannot be read to its end, which its check says */
async function writeCopy(path: string, to: MessageCopy, options: MessageFileOptions): Promise<number | null> {
  const { profile, format, isTerminal, output, throwIfInterrupted } = options;
  const writer = createFindingWriter(format ?? (isTerminal ? 'table' : 'json'), path, { hasChanges: true });
  const copy = openOutputFile(to.path);
  let changes = 0;
  await output?.write(writer.begin());
  try {
    const onChange = async (change: Change) => {
      throwIfInterrupted();
      changes += 1;
      await output?.write(writer.writeChange(change));
    };
    const open = () => readPaymentFile(path);
    const copied = to.kind === 'fix' ? fixMessage(open, { profile, onChange }) : renovateMessage(open(), { onChange });
    for await (const bytes of copied) {
      throwIfInterrupted();
      await copy.write(bytes);
    }
    copy.complete();
    return changes;
  } catch (error) {
    copy.discard();
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function checkMessageIn(file: PaymentFile, options: MessageFileOptions): Promise<CheckedFile> {
  const { copy, format, isTerminal, output, bar, throwIfInterrupted } = options;
  const findings = new FindingCounts();
  const writer =
    output === null
      ? null
      : createFindingWriter(format ?? (isTerminal ? 'table' : 'json'), file.name, { hasChanges: copy !== null });
  const check = checkMessage(readOn(), options);
  // The changes have the same columns.
  if (copy === null) await output?.write(writer?.begin() ?? '');
  for await (const finding of check) {
    throwIfInterrupted();
    const { code, severity, place } = finding;
    findings.add(code, severity, 'line' in place ? place.line : place.row);
    await output?.write(writer?.write(finding) ?? '');
  }
  throwIfInterrupted();
  const summary = check.summary();
  const isAnswered = findings.count('NOT_CHECKED') + findings.count('SERVICE_FAILED') === 0;
  const isBroken = !summary.isComplete;
  return { summary: describeMessage(file.name, summary, findings), findings, isBroken, isAnswered };

  async function* readOn(): AsyncGenerator<Buffer> {
    for await (const chunk of file.chunks) {
      throwIfInterrupted();
      yield chunk;
      const { transactions: rows } = check.summary();
      bar.show({ rows, noun: 'transaction', bytes: file.bytesRead(), size: file.size });
    }
  }
}

/** @throws PaymentFileError */
export async function readReport(path: string): Promise<StatusReport> {
  const file = await openPaymentFile(path);
  try {
    return await readStatusReport(file.chunks);
  } catch (error) {
    throw error instanceof Refusal ? new PaymentFileError(`${file.name}: ${error.message}`) : error;
  } finally {
    file.close();
  }
}
