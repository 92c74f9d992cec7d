import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFile } from './write-file.ts';

/* `npm run build`, after the type check: bundles `src` into `dist`. Does nothing if `dist` is up to date. */

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const stampFile = 'dist/build.json';
const stamp = JSON.stringify({ node: process.version, inputs: hashInputs() });
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  // They take a second to load.
  const { buildGraphiql } = await import('./build-graphiql.ts');
  const { bundle } = await import('./bundle.ts');
  await buildGraphiql('dist/graphiql');
  const files = await bundle('dist');
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
