import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { type TextEncoding, textEncodings } from '../check/encodings.ts';
import type { Severity } from '../check/finding.ts';
import { standardInput } from '../check/open-file.ts';
import { isDeviceOrPipe } from '../check/output.ts';
import type { Profile } from '../check/pain/profiles.ts';
import { type OutputFormat, outputFormats } from '../check/write-results.ts';
import type { MessageCopy } from './check-messages.ts';

/* What the options of `ledgerquill check` ask for. */

export interface CheckOptions {
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
  overwrite?: true;
  quiet?: true;
}

export type Plan = ReturnType<typeof readPlan>;

/** @throws UsageError */
export function readPlan(files: readonly string[], options: CheckOptions) {
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
    if (options.overwrite || options.dryRun || !existsSync(path) || isDeviceOrPipe(path)) continue;
    // A run that is resumed replaces its own result.
    const isUnfinished = existsSync(`${path}.journal`);
    const advice = isUnfinished ? 'continue its run with --resume' : `give ${name} another name`;
    if (!isUnfinished || !options.resume)
      throw new UsageError(`${path} exists already: ${advice}, or replace the file with --overwrite`);
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

export function severalTables(format: OutputFormat): UsageError {
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
