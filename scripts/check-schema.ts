import { readdirSync, readFileSync } from 'node:fs';
import { type Declaration, findSchemaChanges } from './schema-changes.ts';

/*
 * `npm run schema:check`: compares schema.graphql with the last release. A breaking change fails the check, unless
 * docs/releases/breaking-changes.json declares it. With `-- --list`, all changes are listed.
 */

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const releases = readdirSync(new URL('docs/releases/', root)).filter((name) => name.endsWith('.graphql'));
const last = releases.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1);
if (last === undefined) throw new Error('docs/releases must hold the schema of a release, such as 0.1.0.graphql');

const declarations = JSON.parse(read('docs/releases/breaking-changes.json')) as Declaration[];
const changes = await findSchemaChanges(read(`docs/releases/${last}`), read('schema.graphql'), declarations);

list('Breaking; not declared in docs/releases/breaking-changes.json', changes.breaking);
list('Declared in docs/releases/breaking-changes.json, but not breaking', changes.unmatched);
if (process.argv.includes('--list')) {
  list('Breaking; declared', changes.declared);
  list('Dangerous', changes.dangerous);
  list('Additions and other harmless changes', changes.harmless);
}
if (changes.breaking.length + changes.unmatched.length > 0) process.exitCode = 1;

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
