import * as z from 'zod';
import { ConfigError, errorCodeOf, messageOf } from '../errors.ts';
import { readConfiguredFile } from './configured-files.ts';
import { inFiles, variableNames } from './parsers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where values were read: the paths of files by their variable, such as `STORE_SECRET_FILE`. */
interface Files {
  files: Readonly<Record<string, string>>;
}

/**
 * Reads the variables of a table, and the files that contain their values; an empty value counts as not set.
 * @throws ConfigError with all problems at once
 */
export function readVariables<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Environment,
): z.infer<z.ZodObject<Shape>> & Files {
  const given = variableNames(shape).flatMap((name) => {
    const value = env[name]?.trim();
    return value ? [[name, value]] : [];
  });
  const { values, files, problems } = readSecretFiles(shape, Object.fromEntries(given));
  const result = z.object(shape).safeParse(values);
  if (result.success && problems.length === 0) return Object.assign(result.data, { files });
  const unreadable = problems.map((problem) => problem.replace(/(_FILE)?: .*/, ''));
  const issues = (result.error?.issues ?? []).filter(({ path }) => !unreadable.includes(String(path[0])));
  const described = describeIssues(issues, createQuote(shape, values)).map((problem) => {
    const [name = ''] = problem.split(':');
    return `${name}_FILE` in files ? problem.replace(':', '_FILE: its value') : problem;
  });
  throw new ConfigError([...problems, ...described]);
}

/** Replaces `X_FILE` with `X`. */
function readSecretFiles(shape: z.ZodRawShape, given: Readonly<Record<string, string>>) {
  const values: Record<string, string> = { ...given };
  const files: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of Object.keys(shape)) {
    const path = inFiles.has(shape[name] as z.ZodType) ? given[`${name}_FILE`] : undefined;
    if (path === undefined) continue;
    files[`${name}_FILE`] = path;
    if (values[name] !== undefined) {
      problems.push(`${name}_FILE: must not be set together with ${name}`);
      continue;
    }
    try {
      values[name] = readSecretFile(path, name);
    } catch (error) {
      problems.push(`${name}_FILE: ${messageOf(error)}`);
    }
  }
  return { values, files, problems };
}

/** The value of a variable in a file. @throws Error that says what is wrong, without the value */
export function readSecretFile(path: string, variable: string): string {
  let value: string;
  try {
    // Editors and `echo` end files with a line break.
    value = readConfiguredFile(path).trim();
  } catch (error) {
    const reason = errorCodeOf(error) ?? 'unknown reason';
    throw new Error(`the file cannot be read (${reason}); it must be the path of a file with the value of ${variable}`);
  }
  if (value === '') throw new Error(`the file is empty; it must contain the value of ${variable}`);
  return value;
}

/** One problem per variable: its first issue, because a wrong value may have several. */
function describeIssues(issues: readonly z.core.$ZodIssue[], quote: (name: string) => string | null): string[] {
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = String(path[0]);
    const value = quote(name);
    if (!problems.has(name)) problems.set(name, `${name}: ${message}${value === null ? '' : `, but is ${value}`}`);
  }
  return [...problems.values()];
}

/** A function that quotes the value of a variable for a message; null if it is, or may contain, a secret. */
export function createQuote(shape: z.ZodRawShape, values: Environment): (name: string) => string | null {
  const secrets = Object.keys(shape).flatMap((name) => (isSecretVariable(shape, name) && values[name]) || []);
  return (name) => {
    const value = values[name];
    if (value === undefined || isSecretVariable(shape, name)) return null;
    // A secret, or a part of one, that was assigned to the wrong variable, too, or the password in a URL.
    const isSecret = (secret: string) => value.includes(secret) || (value.length >= 8 && secret.includes(value));
    if (secrets.some(isSecret) || /:\/\/[^/]*@|\?/.test(value)) return null;
    return JSON.stringify(value.length > maxQuotedLength ? `${value.slice(0, maxQuotedLength)}...` : value);
  };
}

const maxQuotedLength = 80;

/** Whether the value of a variable must not be printed: it can also be in a file, or its name says so. */
function isSecretVariable(shape: z.ZodRawShape, name: string): boolean {
  return inFiles.has(shape[name] as z.ZodType) || /_(KEYS?|SECRET|PASSWORD|HEADERS)$/.test(name);
}
