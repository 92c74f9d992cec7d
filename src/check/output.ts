import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { errorCodeOf } from '../base/errors.ts';
import { escapeControls } from '../base/process/terminal.ts';
import { PaymentFileError } from './open-file.ts';

/** Where checked rows are written. */
export interface Output {
  /** Resolves when more can be written. @throws PaymentFileError */
  write(content: string | Buffer): Promise<void>;
  /** Everything was written. */
  complete(): void;
  /** Nothing more is written: a file that is not complete is deleted. */
  discard(): void;
}

/**
 * A file appears under its name when it is complete; until then its name ends in `.part`. A device or a pipe is written to.
 * @throws PaymentFileError if it cannot be created
 */
export function openOutputFile(path: string): Output {
  const isStream = isDeviceOrPipe(path);
  const part = isStream ? path : `${path}.part`;
  let file = tryToWrite(path, () => {
    // A killed run may have left it. A run that still writes it keeps its own file, and fails at its end.
    if (!isStream) rmSync(part, { force: true });
    return openSync(part, 'w');
  });
  const own = fstatSync(file).ino;
  const isOwn = () => statSync(part, { throwIfNoEntry: false })?.ino === own;
  const close = () => {
    if (file >= 0) closeSync(file);
    file = -1;
  };
  return {
    async write(content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      tryToWrite(path, () => {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      });
    },
    complete() {
      // While it is open, no other file can have its inode.
      const isReplaced = !isStream && !isOwn();
      close();
      if (isReplaced) throw new PaymentFileError(`${path} is written by another run that began later`);
      if (isStream) return;
      try {
        tryToWrite(path, () => renameSync(part, path));
      } catch (error) {
        rmSync(part, { force: true });
        throw error;
      }
    },
    discard() {
      const isLeft = !isStream && file >= 0 && isOwn();
      close();
      if (isLeft) rmSync(part, { force: true });
    },
  };
}

/**
 * Whether a path is something such as /dev/null, which must never be replaced by a file.
 * @throws PaymentFileError if it is a folder
 */
export function isDeviceOrPipe(path: string): boolean {
  const found = tryToWrite(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found?.isDirectory()) throw new PaymentFileError(`${path} is a folder; expected the name of a file`);
  return found !== undefined && !found.isFile();
}

/** @param name of the file, for messages @throws PaymentFileError if the file system refuses it */
export function tryToWrite<Result>(name: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    const code = errorCodeOf(error);
    throw code === null ? error : new PaymentFileError(`${name} cannot be written (${code})`);
  }
}

/** On a terminal, controls are escaped. @param onFailed receives why nothing more can be written: its reader, such as `head`, has closed it, or a disk is full */
export function openStandardOutput(stream: NodeJS.WriteStream, onFailed: (reason: string) => void): Output {
  let isClosed = false;
  let resume = () => {};
  stream.on('error', (error) => {
    isClosed = true;
    const code = errorCodeOf(error);
    onFailed(
      code === 'EPIPE' || code === null
        ? 'the reader of the output has closed it'
        : `standard output cannot be written (${code})`,
    );
    resume();
  });
  return {
    async write(content) {
      const shown = stream.isTTY && typeof content === 'string' ? escapeControls(content) : content;
      if (isClosed || content.length === 0 || stream.write(shown)) return;
      await new Promise<void>((resolve) => {
        resume = resolve;
        stream.once('drain', resolve);
      });
    },
    complete() {},
    discard() {},
  };
}
