import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * The text of a configured file. Reading a device or a pipe might never end, so these are refused.
 * @throws Error with a `code`
 */
export function readConfiguredFile(path: string): string {
  // Otherwise, opening a pipe waits for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() && !stats.isDirectory()) throw Object.assign(new Error(notRegular), { code: notRegular });
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

const notRegular = 'not a regular file';
