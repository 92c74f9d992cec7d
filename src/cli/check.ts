import { createHash } from 'node:crypto';
import { existsSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createBankLists } from '../banks/bank-lists.ts';
import { createKnownBanks, type KnownBanks } from '../banks/known-banks.ts';
import { checkDataFolder } from '../base/data-folder.ts';
import { ConfigError, UsageError } from '../base/errors.ts';
import { configureHeap } from '../base/process/heap-settings.ts';
import { createProgressBar, type ProgressBar } from '../base/process/progress-bar.ts';
import { countOf, print, printError } from '../base/process/terminal.ts';
import { readBankImportConfig } from '../base/variables/service-config.ts';
import { type AnswerSource, type Answers, createAnswers } from '../check/answers/answers.ts';
import { type Journal, openJournal } from '../check/answers/journal.ts';
import type { TextEncoding } from '../check/encodings.ts';
import {
  openPaymentFile,
  type PaymentFile,
  PaymentFileError,
  readPaymentFile,
  standardInput,
} from '../check/open-file.ts';
import { isDeviceOrPipe, type Output, openOutputFile, openStandardOutput } from '../check/output.ts';
import type { StatusReport } from '../check/pain/status-report.ts';
import { readTables } from '../check/read-rows.ts';
import { createFindingWriter, maxWrittenRows, tooManyRows } from '../check/write-results.ts';
import { type CheckedFile, checkMessageFile, readReport } from './check-messages.ts';
import { type CheckOptions, type Plan, readPlan, severalTables } from './check-plan.ts';
import { planSource } from './check-source.ts';
import { checkTableFile } from './check-table-file.ts';

/**
 * Checks files, and writes their rows with what was found out, or the findings of payment messages. The exit code is 0 if no finding
 * has the severity of `--fail-on`, 1 if one has, and 2 if that is not known: the reason is on standard error.
 */
export async function check(files: readonly string[], options: CheckOptions): Promise<void> {
  try {
    process.exitCode = await run(files, readPlan(files, options));
  } catch (error) {
    process.exitCode = 2;
    const isExpected = error instanceof PaymentFileError || error instanceof ConfigError || error instanceof UsageError;
    const text = isExpected ? `error: ${error.message}` : error instanceof Error ? error.stack : String(error);
    printError(`${text}\n`);
  }
}

/** @returns the exit code @throws PaymentFileError, ConfigError */
async function run(files: readonly string[], plan: Plan): Promise<number> {
  configureHeap();
  const { dataDir } = readBankImportConfig(process.env);
  const isNewFolder = !existsSync(dataDir);
  const lists = createBankLists({ dataDir });
  const banks = createKnownBanks(lists);
  const { id, isOffline, open } = planSource(plan, lists.version());
  let source: AnswerSource | null = null;
  let journal: Journal | null = null;
  try {
    const report = plan.report === null ? null : await readReport(plan.report);
    if (!plan.isDryRun) await checkFormat(files, plan);
    source = plan.isDryRun ? null : await open();
    const answers = createAnswers(source, () => journal);
    const path = journalPath(files, plan, id, dataDir);
    if (!hasOutputFile(plan) && !plan.isDryRun) checkDataFolder(dataDir);
    if (!plan.isDryRun || (plan.isResumed && existsSync(path))) {
      const contentHash = await hashFiles(files);
      journal = openJournal({ path, sourceId: id, contentHash, isResumed: plan.isResumed, keep: answers.keep });
    }
    const outcome = await checkFiles({ files, plan, source, answers, banks, report, onBroken: () => journal?.end() });
    if (outcome.isComplete) journal?.remove();
    if (!plan.isQuiet || plan.isDryRun) printSummary(outcome, { ...plan, isOffline }, path);
    journal?.close();
    if (isNewFolder) removeIfEmpty(dataDir);
    if (!plan.isQuiet && isNewFolder && existsSync(dataDir))
      printError(`created the folder ${resolve(dataDir)} (DATA_DIR)\n`);
    return exitCodeOf(outcome.codes);
  } finally {
    journal?.close();
    await source?.close();
    await banks.close();
  }
}

/** A folder that was created for a journal, which is not needed any more. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something is kept in it.
  }
}

/** @param codes of the findings that are not to be overlooked */
function exitCodeOf(codes: readonly string[]): number {
  if (codes.length === 0) return 0;
  return codes.every((code) => unansweredCodes.includes(code)) ? 2 : 1;
}

/** About the check, not about the file: with more calls, or later, there would be none. */
const unansweredCodes = ['NOT_CHECKED', 'SERVICE_FAILED'];

/** Beside the output, otherwise in DATA_DIR, by the names of the files and where the answers are from. */
function journalPath(files: readonly string[], plan: Plan, sourceId: string, dataDir: string): string {
  if (hasOutputFile(plan)) return `${plan.output}.journal`;
  const paths = files.map((file) => (file === standardInput ? file : resolve(file)));
  const name = createHash('sha256')
    .update(JSON.stringify([sourceId, ...paths]))
    .digest('hex');
  return join(dataDir, `check-${name.slice(0, 16)}.journal`);
}

/** Whether the result is a file, beside which a journal can be. @throws PaymentFileError if it is a folder */
function hasOutputFile({ output }: Plan): boolean {
  return output !== null && !isDeviceOrPipe(output);
}

/** Null if standard input is one of them: it can be read once. @throws PaymentFileError */
async function hashFiles(files: readonly string[]): Promise<string | null> {
  if (files.includes(standardInput)) return null;
  const hash = createHash('sha256');
  for (const path of files) for await (const chunk of readPaymentFile(path)) hash.update(chunk);
  return hash.digest('hex');
}

interface CheckFilesOptions {
  files: readonly string[];
  plan: Plan;
  source: AnswerSource | null;
  answers: Answers;
  banks: KnownBanks;
  report: StatusReport | null;
  /** Called if a file cannot be read to its end. */
  onBroken: () => void;
}

type Outcome = Awaited<ReturnType<typeof checkFiles>>;

/** @throws PaymentFileError, also after a signal: the journal then has all answers */
async function checkFiles({ files, plan, source, answers, banks, report, onBroken }: CheckFilesOptions) {
  const resumed = answers.size();
  const interruption: { reason: string | null } = { reason: null };
  const interrupt = (reason: string) => {
    interruption.reason ??= reason;
    source?.stop(reason);
  };
  const onSignal = () => interrupt('the run was interrupted');
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const output = openOutput(plan, interrupt);
  const messageIds = new Set<string>();
  const checked: CheckedFile[] = [];
  let isBroken = false;
  try {
    for (const path of files) {
      const file = await openPaymentFile(path);
      const bar = createProgressBar(plan.isQuiet ? noTerminal : process.stderr, 'checking');
      try {
        checked.push(await (file.kind === 'xml' ? checkXml(file, bar) : checkTable(file, bar)));
      } finally {
        bar.clear();
        file.close();
      }
    }
    output?.complete();
    isBroken = checked.some((file) => file.isBroken);
  } catch (error) {
    isBroken = error instanceof PaymentFileError && interruption.reason === null;
    source?.stop('the check has failed');
    output?.discard();
    throw error;
  } finally {
    // What was sent is paid for, so its answers are kept.
    await answers.settled();
    if (isBroken) onBroken();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  return {
    /** Lines for people. */
    summary: checked.flatMap(({ summary }) => summary),
    /** Of the findings with the severity of `--fail-on`, or a more serious one. */
    codes: checked.flatMap(({ findings }) => findings.flatMap((each) => each.codes(plan.failOn))),
    /** Whether nothing is left for a later run: all was read, and all well-formed IBANs were answered. */
    isComplete:
      source !== null && (answers.size() === 0 || checked.every(({ isBroken, isAnswered }) => !isBroken && isAnswered)),
    /** IBANs that a dry run would ask about. */
    unasked: answers.size() - resumed,
    /** IBANs that were answered by the journal. */
    resumed,
    calls: source?.calls() ?? 0,
    stopReason: source?.stopReason() ?? null,
    oldLists: banks.oldListsInUse(),
  };

  async function checkXml(file: PaymentFile, bar: ProgressBar): Promise<CheckedFile> {
    const { profile, copy, format, tableOption } = plan;
    refuseOption(tableOption, `${file.name} is XML`, 'tables');
    const isTerminal = plan.output === null && process.stdout.isTTY === true;
    const writing = { copy, format, isTerminal, output, bar, throwIfInterrupted };
    return checkMessageFile(file, { answers, banks, messageIds, profile, report, ...writing });
  }

  async function checkTable(file: PaymentFile, bar: ProgressBar): Promise<CheckedFile> {
    refuseOption(plan.messageOption, `${file.name} is not XML`, 'payment messages');
    const isTerminal = (plan.isDryRun ? process.stdout : process.stderr).isTTY === true;
    return checkTableFile(file, { ...plan, answers, banks, output, bar, isTerminal, throwIfInterrupted });
  }

  /** Options may be about some of several files. @throws PaymentFileError if the only file is of the other kind */
  function refuseOption(option: string | undefined, fact: string, subject: string): void {
    if (option !== undefined && files.length === 1)
      throw new PaymentFileError(`${fact}, but ${option} is about ${subject}`);
  }

  function throwIfInterrupted(): void {
    if (interruption.reason === null) return;
    throw new PaymentFileError(
      `${interruption.reason}; nothing was lost: run the same command with --resume to continue`,
    );
  }
}

const noTerminal = { isTTY: false } as NodeJS.WriteStream;

/** Null for a dry run, which writes no rows. */
function openOutput({ output, isDryRun }: Plan, onFailed: (reason: string) => void): Output | null {
  if (isDryRun) return null;
  return output === null ? openStandardOutput(process.stdout, onFailed) : openOutputFile(output);
}

/**
 * Before anything is paid for. What comes from standard input cannot be read before.
 * @throws PaymentFileError, UsageError
 */
async function checkFormat(files: readonly string[], { format, encoding }: Plan): Promise<void> {
  const isUnclear = format === null && files.length > 1;
  if (format !== 'xlsx' && !isUnclear) return;
  for (const path of files) {
    if (path === standardInput && isUnclear) throw severalTables('csv');
    if (path === standardInput) continue;
    const file = await openPaymentFile(path);
    try {
      if (file.kind !== 'xml' && isUnclear) throw severalTables('csv');
      if (format !== 'xlsx') continue;
      if (file.kind === 'xml') createFindingWriter(format, file.name);
      if (file.kind !== 'xml') await rejectLongTable(file, encoding);
    } finally {
      file.close();
    }
  }
}

async function rejectLongTable(file: PaymentFile, encoding: TextEncoding | null): Promise<void> {
  let rows = 0;
  for (const { groups } of await readTables(file, encoding)) {
    for await (const group of groups) {
      rows += group.length;
      if (rows > maxWrittenRows) throw tooManyRows();
    }
  }
}

/** To standard error; for a dry run, which has no other output, to standard output. */
function printSummary(
  outcome: Outcome,
  { isDryRun, gateway, isOffline }: Plan & { isOffline: boolean },
  journal: string,
): void {
  const { summary, calls, resumed, unasked, isComplete, stopReason, oldLists } = outcome;
  const describe = (number: number) => {
    if (isOffline) return `${countOf(number, 'IBAN')} looked up`;
    return gateway === null ? countOf(number, 'call') : `${countOf(number, 'IBAN')} sent to the gateway`;
  };
  const lines = isDryRun
    ? [
        isOffline
          ? `${countOf(unasked, 'IBAN')} to look up`
          : `${describe(unasked)} at most: answers in caches cost none`,
      ]
    : [`${describe(calls)}${resumed > 0 ? `, ${countOf(resumed, 'answer')} of the earlier run` : ''}`];
  if (stopReason !== null) lines.push(`not all IBANs were looked up: ${stopReason}`);
  if (!isDryRun && !isComplete) lines.push(`the answers are kept in ${journal}: --resume continues with them`);
  if (oldLists.length > 0) {
    const dates = oldLists.map(({ country, date }) => `${country} of ${date}`);
    lines.push(`compared with bank lists that are out of date: ${dates.join(', ')}`);
  }
  const write = isDryRun ? print : printError;
  write(`${[...summary, ...lines].join('\n')}\n`);
}
