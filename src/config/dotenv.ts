import { existsSync } from 'node:fs';
import { ConfigError, errorCodeOf } from '../errors.ts';

/**
 * Adds the variables of the file in the argument `--dotenv=FILE` to the environment, except those that are set there.
 * (Node.js 20 takes `--env-file` for its own option anywhere, and then requires the file.)
 * @returns the names that were added
 * @throws ConfigError if it cannot be read; only `.env` may be missing
 */
export function loadDotenv(): ReadonlySet<string> {
  const path = process.argv.find((argument) => argument.startsWith(option))?.slice(option.length);
  if (!path || (path === '.env' && !existsSync(path))) return new Set();
  const before = new Set(Object.keys(process.env));
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new ConfigError([`${path}: must be a file of lines NAME=value, but cannot be read (${errorCodeOf(error)})`]);
  }
  return new Set(Object.keys(process.env).filter((name) => !before.has(name)));
}

const option = '--dotenv=';
