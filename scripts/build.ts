import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFile } from './write-file.ts';

/* `npm run build`: bundles `src` into `dist`. Does nothing if `dist` is up to date. Types are checked by `npm test`. */

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const stampFile = 'dist/build.json';
const stamp = JSON.stringify({ node: process.version, inputs: hashInputs() });
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  process.stderr.write('Building Ledgerquill, which takes a few seconds after each change of the code.\n');
  // They take a second to load.
  const { buildGraphiql } = await import('./build-graphiql.ts');
  const { bundle } = await import('./bundle.ts');
  const [files] = await Promise.all([bundle('dist'), buildGraphiql('dist/graphiql')]);
  for (const { path, contents } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFile(path, contents);
  }
  removeOtherScripts(new Set(files.map(({ path }) => path)));
  writeFile(stampFile, stamp);
}

function hashInputs(): string {
  const hash = createHash('sha256');
  const sources = ['src', 'scripts'].flatMap((folder) => listFiles(folder));
  for (const file of [...sources.sort(), 'package-lock.json']) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** Of earlier builds. */
function removeOtherScripts(files: ReadonlySet<string>): void {
  for (const file of listFiles('dist')) if (/[.]js([.]map)?$/.test(file) && !files.has(file)) rmSync(file);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
