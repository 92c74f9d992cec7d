import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: processes that start meanwhile read the old or the new one. */
export function writeFile(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, file);
}
