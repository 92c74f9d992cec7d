import { existsSync } from 'node:fs';
import { ConfigError, errorCodeOf } from '../errors.ts';

/**
 * Adds the variables of a file to the environment, except those that are set there.
 * @returns the names that were added; none if the file is missing and need not exist
 * @throws ConfigError if it cannot be read
 */
export function loadDotenv(path: string, { mustExist }: { mustExist: boolean }): ReadonlySet<string> {
  if (!mustExist && !existsSync(path)) return new Set();
  const before = new Set(Object.keys(process.env));
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new ConfigError([`${path}: must be a file of lines NAME=value, but cannot be read (${errorCodeOf(error)})`]);
  }
  return new Set(Object.keys(process.env).filter((name) => !before.has(name)));
}
