import { readFileSync } from 'node:fs';

/** The version of this package. The build places this code directly in `dist`, as deep as it is in `src`. */
export function readVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}
