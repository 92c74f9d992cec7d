import { readFileSync } from 'node:fs';
import { findLicenseProblems, type LockFile } from './licenses.ts';

/* `npm run licenses`: fails if a package that the gateway installs in production has no permissive license. */

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as LockFile;
const problems = findLicenseProblems(lock);
if (problems.length > 0) {
  process.stdout.write(`Packages without a permissive license:\n${problems.map((line) => `  ${line}\n`).join('')}`);
  process.exitCode = 1;
}
