import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorCodeOf } from '../errors.ts';

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
      values[variable] = readFileSync(path, 'utf8').trim();
      if (values[variable] === '') problems.push(`${fileVariable}: the file is empty`);
    } catch (error) {
      problems.push(`${fileVariable}: the file cannot be read (${errorCodeOf(error) ?? 'unknown reason'})`);
    }
  }
  return { values, problems };
}
