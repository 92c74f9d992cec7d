import { createHash } from 'node:crypto';
import { existsSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { createBankLists } from '../banks/bank-lists.ts';
import { createKnownBanks, type KnownBanks } from '../banks/known-banks.ts';
import { checkDataFolder } from '../base/data-folder.ts';
import { ConfigError, UsageError } from '../base/errors.ts';
import { configureHeap } from '../base/process/heap-settings.ts';
import { createProgressBar, type ProgressBar } from '../base/process/progress-bar.ts';
import { countOf, print, printError } from '../base/process/terminal.ts';
import { readBankImportConfig } from '../base/variables/service-config.ts';
import type { AnswerSource } from '../check/answers/answer-source.ts';
import { type Answers, createAnswers } from '../check/answers/answers.ts';
import { type Journal, openJournal } from '../check/answers/journal.ts';
import { type TextEncoding, textEncodings } from '../check/encodings.ts';
import type { Severity } from '../check/finding.ts';
import {
  openPaymentFile,
  type PaymentFile,
  PaymentFileError,
  readPaymentFile,
  standardInput,
} from '../check/open-file.ts';
import { isDeviceOrPipe, type Output, openOutputFile, openStandardOutput } from '../check/output.ts';
import type { Profile } from '../check/pain/profiles.ts';
import type { StatusReport } from '../check/pain/status-report.ts';
import { readTables } from '../check/read-rows.ts';
import {
  createFindingWriter,
  maxWrittenRows,
  type OutputFormat,
  outputFormats,
  tooManyRows,
} from '../check/write-results.ts';
import { type CheckedFile, checkMessageFile, type MessageCopy, readReport } from './check-messages.ts';
import { planSource } from './check-source.ts';
import { checkTableFile } from './check-table-file.ts';

interface CheckOptions {
  column?: string;
  bicColumn?: string;
  nameColumn?: string;
  sheet?: string;
  encoding?: string;
  format?: OutputFormat;
  output?: string;
  gateway?: string;
  profile?: Profile;
  report?: string;
  fix?: string;
  renovate?: string;
  /** The least severity of findings for the exit code 1. */
  failOn?: Severity;
  maxCalls?: string;
  dryRun?: true;
  resume?: true;
  quiet?: true;
}

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

type Plan = ReturnType<typeof readPlan>;

/** @throws UsageError */
function readPlan(files: readonly string[], options: CheckOptions) {
  const { column = null, bicColumn = null, nameColumn = null, output = null, gateway = null, maxCalls } = options;
  const format = options.format ?? (options.dryRun ? null : formatOf(output));
  if (files.length > 1 && format !== null && format !== 'json' && !options.dryRun) throw severalTables(format);
  if (format === 'xlsx' && output === null && !options.dryRun) {
    throw new UsageError('--format xlsx needs --output with the name of a file');
  }
  checkPaths(files, options);
  if (options.report !== undefined && files.length > 1)
    throw new UsageError('--report needs one file, about which it is');
  if (maxCalls !== undefined && !/^\d{1,12}$/.test(maxCalls)) {
    throw new UsageError(`--max-calls must be a number of calls such as 1000, not ${JSON.stringify(maxCalls)}`);
  }
  return {
    /** Null: all visible ones with IBANs. */
    sheet: options.sheet ?? null,
    encoding: readEncoding(options.encoding),
    columnNames: { iban: column, bic: bicColumn, name: nameColumn },
    /** Null: JSON for XML, CSV for all others. */
    format,
    /** Null: standard output. */
    output,
    /** Null: the bank-data service, through the gateway's own code in this process. */
    gateway,
    /** By whose rules payment messages are judged. */
    profile: options.profile ?? 'auto',
    /** A status report (pain.002) about the message. */
    report: options.report ?? null,
    copy: readCopy(options),
    failOn: options.failOn ?? 'warning',
    maxCalls: maxCalls === undefined ? null : Number(maxCalls),
    /** The first given options that are about tables, and about payment messages; undefined: there are none. */
    tableOption: findGiven(options, ['column', 'bicColumn', 'nameColumn', 'sheet', 'encoding']),
    messageOption: findGiven(options, ['profile', 'report', 'fix', 'renovate']),
    isDryRun: options.dryRun ?? false,
    isResumed: options.resume ?? false,
    isQuiet: options.quiet ?? false,
  };
}

/** The file for a copy, which is checked in place of the message. */
function readCopy({ fix, renovate }: CheckOptions): MessageCopy | null {
  if (fix !== undefined) return { kind: 'fix', path: fix };
  return renovate === undefined ? null : { kind: 'renovate', path: renovate };
}

/** As it is written, such as --bic-column. The profile auto is that without the option. */
function findGiven(options: CheckOptions, names: readonly (keyof CheckOptions)[]): string | undefined {
  const given = names.find((name) => options[name] !== undefined && options[name] !== 'auto');
  return given && `--${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** What is read is not replaced, nor is what is written written twice. @throws UsageError */
function checkPaths(files: readonly string[], options: CheckOptions): void {
  const { report, output } = options;
  const copy = readCopy(options);
  const option = `--${copy?.kind}`;
  const inputs = report === undefined ? files : [...files, report];
  if (inputs.filter((file) => file === standardInput).length > 1) throw new UsageError('- can be given once');
  if (copy !== null && (files.length > 1 || files[0] === standardInput)) {
    throw new UsageError(`${option} needs one file, which is read twice`);
  }
  const taken = new Map(
    inputs.map((file, index) => [identify(file), index < files.length ? 'the one that is checked' : 'the report']),
  );
  for (const [name, path] of Object.entries({ '--output': output, [option]: copy?.path })) {
    if (path === undefined) continue;
    // Until it is complete, it has another name. A journal is beside results.
    const written = [path, `${path}.part`, ...(name === '--output' ? [`${path}.journal`] : [])].map(identify);
    const other = written.map((each) => taken.get(each)).find((each) => each !== undefined);
    if (other !== undefined) throw new UsageError(`${name} must be another file than ${other}`);
    for (const each of written) taken.set(each, `that of ${name}`);
  }
  if (copy !== null && isDeviceOrPipe(copy.path)) {
    throw new UsageError(`${option} must be a file: the copy is read again to check it`);
  }
}

/** The same for all names of a file, which may not exist yet. */
function identify(path: string): string {
  if (path === standardInput) return path;
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(resolve(path));
    return existsSync(folder) ? join(realpathSync(folder), basename(path)) : resolve(path);
  }
}

function readEncoding(name: string | undefined): TextEncoding | null {
  if (name === undefined) return null;
  const found = textEncodings.find((encoding) => encoding === name.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`--encoding must be one of ${textEncodings.join(', ')}, not ${JSON.stringify(name)}`);
}

function severalTables(format: OutputFormat): UsageError {
  return new UsageError(`${format} has the rows of one table: check one file at a time, or use --format json`);
}

/** Null if its name does not say it, as for /dev/null. @throws UsageError if it says another format */
function formatOf(output: string | null): OutputFormat | null {
  const extension = output === null ? '' : extname(output).toLowerCase();
  if (extension === '.jsonl' || extension === '.ndjson') return 'json';
  const format = outputFormats.find((each) => `.${each}` === extension) ?? null;
  if (format !== null || ['', '.tsv', '.txt'].includes(extension)) return format;
  const right = outputFormats.map((each) => `.${each}`).join(', ');
  throw new UsageError(`--output ${output}: results are ${right}; with --format, a file can have any name`);
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
    codes: checked.flatMap(({ findings }) => findings.codes(plan.failOn)),
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
    return checkTableFile(file, { ...plan, answers, banks, output, bar, throwIfInterrupted });
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
