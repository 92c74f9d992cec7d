import type * as z from 'zod';
import { messageOf } from '../errors.ts';
import { watchFiles } from './configured-files.ts';
import { readSecretFile } from './read-variables.ts';

/** A secret that may be in a file. */
export interface SecretFile<Variable extends string> {
  /** Null: the value is not in a file. */
  file: string | null;
  /** Named in problems. */
  variable: Variable;
  type: z.ZodType<string>;
  /** The value in use. */
  value: string | null;
  /** Called with a new value, and with the same one after the file was invalid. */
  use(value: string): void;
}

interface FollowOptions<Variable extends string> {
  /** Called before a new value is used. */
  hideSecret: (value: string) => void;
  events: {
    fileReloaded(file: `${Variable}_FILE`): void;
    /** @param reason without the value */
    fileInvalid(file: `${Variable}_FILE`, reason: string): void;
  };
}

/**
 * Reads secrets again when their files change, so that they are replaced without a restart. A file that cannot be read, is empty or
 * has no valid value leaves the last value in use.
 */
export function followSecretFiles<Variable extends string>(
  secrets: readonly SecretFile<Variable>[],
  options: FollowOptions<Variable>,
) {
  const followed = secrets.flatMap(({ file, ...secret }) => (file === null ? [] : followFile(file, secret, options)));
  return {
    reload() {
      for (const { reload } of followed) reload();
    },
    /** Stops reading the files again. */
    close() {
      for (const { close } of followed) close();
    },
  };
}

function followFile<Variable extends string>(
  file: string,
  { variable, type, value, use }: Omit<SecretFile<Variable>, 'file'>,
  { hideSecret, events }: FollowOptions<Variable>,
) {
  let last = value;
  let isInvalid = false;

  function reload(): void {
    try {
      const read = readValue();
      if (read === last && !isInvalid) return;
      last = read;
      isInvalid = false;
      hideSecret(read);
      use(read);
      events.fileReloaded(`${variable}_FILE`);
    } catch (error) {
      isInvalid = true;
      events.fileInvalid(`${variable}_FILE`, messageOf(error));
    }
  }

  /** @throws Error that says what is wrong, without the value */
  function readValue(): string {
    const { success, data, error } = type.safeParse(readSecretFile(file, variable));
    if (success) return data;
    throw new Error(`the value of ${variable} in the file ${error.issues[0]?.message}`);
  }

  const close = watchFiles([file], reload);
  // It may have changed after the configuration was read.
  reload();
  return { reload, close };
}
