import { readFileSync } from 'node:fs';

/** The URL of a file or folder in `dist`, also from `src`. In the build, this code is in a file at the top of `dist`. */
export function builtFile(path: string): URL {
  return new URL(import.meta.url.endsWith('.ts') ? `../../../dist/${path}` : path, import.meta.url);
}

/** The version of this package. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(builtFile('../package.json'), 'utf8')) as { version: string };
  return version;
}
