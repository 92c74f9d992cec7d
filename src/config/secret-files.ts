import * as z from 'zod';
import { errorCodeOf } from '../errors.ts';
import { readConfiguredFile } from './read-file.ts';

/** The path of a file that contains the value of a variable: `X_FILE` for `X`, as orchestrators mount secrets. */
export const secretFile = z.string().optional();

interface ResolvedValues {
  values: Record<string, string>;
  problems: string[];
}

/** Replaces `X_FILE` with `X` for all variables of the table whose type is `secretFile`. */
export function readSecretFiles(shape: z.ZodRawShape, given: Readonly<Record<string, string>>): ResolvedValues {
  const values = { ...given };
  const problems: string[] = [];
  for (const [fileVariable, type] of Object.entries(shape)) {
    const path = values[fileVariable];
    if (type !== secretFile || path === undefined) continue;
    delete values[fileVariable];
    const variable = fileVariable.replace(/_FILE$/, '');
    if (values[variable] !== undefined) {
      problems.push(`${fileVariable}: must not be set together with ${variable}`);
      continue;
    }
    try {
      // Editors and `echo` end files with a line break.
      values[variable] = readConfiguredFile(path).trim();
      if (values[variable] === '')
        problems.push(`${fileVariable}: the file is empty; it must contain the value of ${variable}`);
    } catch (error) {
      problems.push(
        `${fileVariable}: the file cannot be read (${errorCodeOf(error) ?? 'unknown reason'}); it must be the path of a file with the value of ${variable}`,
      );
    }
  }
  return { values, problems };
}
