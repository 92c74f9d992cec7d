import {
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  watch,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCodeOf } from '../errors.ts';

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

/** The JSON in a configured file. @throws Error that says what is wrong, for operators, without the content */
export function readConfiguredJson(path: string, name = path): unknown {
  try {
    return JSON.parse(readConfiguredFile(path));
  } catch (error) {
    // The message of a syntax error repeats the text.
    const problem = error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read (${errorCodeOf(error)})`;
    throw new Error(`${name} ${problem}`);
  }
}

/**
 * Calls the function after files have changed, or files in folders. Folders are watched, not files, because a file may be
 * replaced by renaming, and Kubernetes replaces a symbolic link in the folder. What file systems do not report is found
 * by comparing inodes, times and sizes every 10 seconds.
 * @returns a function that stops it
 */
export function watchFiles(paths: readonly string[], onChange: () => void): () => void {
  let last = describeFiles(paths);
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    timer = undefined;
    const current = describeFiles(paths);
    if (current === last) return;
    last = current;
    onChange();
  };
  // Several events report one change.
  const checkSoon = () => {
    timer ??= setTimeout(check, settleMs).unref();
  };
  const folders = new Set(paths.map((path) => (isFolder(path) ? path : dirname(path))));
  const watchers = [...folders].flatMap((folder) => watchFolder(folder, checkSoon));
  const interval = setInterval(check, checkMs).unref();
  return () => {
    clearTimeout(timer);
    clearInterval(interval);
    for (const watcher of watchers) watcher.close();
  };
}

/** The files, and those that end in .json in the folders, sorted. @throws if a path does not exist */
export function listFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (!isFolder(path)) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    return names.toSorted().map((name) => join(path, name));
  });
}

const settleMs = 50;
const checkMs = 10_000;

function describeFiles(paths: readonly string[]): string {
  try {
    const states = listFiles(paths).map((file) => {
      const { ino, mtimeNs, size } = statSync(file, { bigint: true });
      return `${file} ${ino} ${mtimeNs} ${size}`;
    });
    return states.join('\n');
  } catch {
    return 'missing';
  }
}

function watchFolder(folder: string, listener: () => void): FSWatcher[] {
  try {
    // After an error, such as too many watched folders, the comparison remains.
    return [watch(folder, { persistent: false }, listener).on('error', () => {})];
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
