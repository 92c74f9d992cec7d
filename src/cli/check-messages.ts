import type { KnownBanks } from '../banks/known-banks.ts';
import type { ProgressBar } from '../base/process/progress-bar.ts';
import { countOf } from '../base/process/terminal.ts';
import type { Answers } from '../check/answers/answers.ts';
import { type Change, Refusal } from '../check/finding.ts';
import { openPaymentFile, type PaymentFile, PaymentFileError, readPaymentFile } from '../check/open-file.ts';
import { type Output, openOutputFile } from '../check/output.ts';
import { checkMessage } from '../check/pain/check-message.ts';
import { fixMessage } from '../check/pain/fix-message.ts';
import type { Profile } from '../check/pain/profiles.ts';
import { renovateMessage } from '../check/pain/renovate-message.ts';
import { readStatusReport, type StatusReport } from '../check/pain/status-report.ts';
import { FindingCounts, summarizeMessage } from '../check/tally.ts';
import { createFindingWriter, type OutputFormat } from '../check/write-results.ts';

export interface CheckedFile {
  /** Lines for people. */
  summary: readonly string[];
  /** Those of each table, or of the message. */
  findings: readonly FindingCounts[];
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

/** What a file is checked with. */
export interface FileOptions {
  answers: Answers;
  banks: KnownBanks;
  /** Null: that of its kind. */
  format: OutputFormat | null;
  /** Whether people read it on a terminal, the result of a message, and the summary of a table. A log has no payees. */
  isTerminal: boolean;
  /** Null: what is found is only counted. */
  output: Output | null;
  bar: ProgressBar;
  throwIfInterrupted(): void;
}

interface MessageFileOptions extends FileOptions {
  /** The ids of the messages before it. */
  messageIds: Set<string>;
  profile: Profile;
  /** What a bank says about the message. */
  report: StatusReport | null;
  /** The file for a copy, which is then checked; null: the message itself is checked. */
  copy: MessageCopy | null;
}

/** Checks a payment message, or its copy. @throws PaymentFileError */
export async function checkMessageFile(file: PaymentFile, options: MessageFileOptions): Promise<CheckedFile> {
  const { copy } = options;
  if (copy === null) return checkMessageIn(file, options);
  const changes = await writeCopy(file.name, copy, options);
  const copied = changes === null ? file : await openPaymentFile(copy.path);
  try {
    const checked = await checkMessageIn(copied, options);
    const outcome = changes === null ? 'no copy was written' : describeChanges(changes, copy.path);
    return { ...checked, summary: [`${file.name}: ${outcome}`, ...checked.summary] };
  } finally {
    copied.close();
  }
}

function describeChanges(changes: number, path: string): string {
  return changes === 0
    ? `nothing was to be changed, so ${path} is the same`
    : `${countOf(changes, 'change')} in ${path}`;
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
    findings.add(finding, finding.place.line);
    await output?.write(writer?.write(finding) ?? '');
  }
  throwIfInterrupted();
  const summary = check.summary();
  const isAnswered = findings.count('NOT_CHECKED') + findings.count('SERVICE_FAILED') === 0;
  const isBroken = !summary.isComplete;
  const lines = [`${file.name}: ${summarizeMessage(summary)}`, ...findings.describe('line')];
  return { summary: [...lines, ...(options.report?.describe() ?? [])], findings: [findings], isBroken, isAnswered };

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
