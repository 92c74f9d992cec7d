import type * as z from 'zod';
import { messageOf } from '../errors.ts';
import { watchFiles } from './configured-files.ts';
import { readSecretFile } from './read-variables.ts';

interface FollowOptions {
  /** Null: the value is not in a file. */
  file: string | null;
  /** Named in problems. */
  variable: string;
  type: z.ZodType<string>;
  /** The value in use. */
  value: string | null;
  /** Called with a new value, and with the same one after the file was invalid. */
  onRead(value: string): void;
  /** @param reason without the value */
  onInvalid(reason: string): void;
}

/**
 * Reads a secret again when its file changes. A file that cannot be read, is empty or has no valid value leaves the last
 * value in use.
 */
export function followSecretFile({ file, variable, type, value, onRead, onInvalid }: FollowOptions) {
  if (file === null) return { reload() {}, close() {} };
  let last = value;
  let isInvalid = false;

  function reload(): void {
    try {
      const read = readValue(file ?? '');
      if (read === last && !isInvalid) return;
      last = read;
      isInvalid = false;
      onRead(read);
    } catch (error) {
      isInvalid = true;
      onInvalid(messageOf(error));
    }
  }

  /** @throws Error that says what is wrong, without the value */
  function readValue(path: string): string {
    const { success, data, error } = type.safeParse(readSecretFile(path, variable));
    if (success) return data;
    throw new Error(`the value of ${variable} in the file ${error.issues[0]?.message}`);
  }

  const close = watchFiles([file], reload);
  // It may have changed after the configuration was read.
  reload();
  return { reload, close };
}
