import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** The path of a program; null if it is not installed. Debian installs some outside the PATH of users. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  const paths = name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
  return paths.find(isExecutable) ?? null;
}

/** For titles of tests that need a program: why they are skipped; empty if it is installed. */
export function whyMissing(program: string, packageName = program): string {
  return findProgram(program) === null ? ` (SKIPPED: ${program} is missing; install the package ${packageName})` : '';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
