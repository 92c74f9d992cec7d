import { readdirSync, readFileSync } from 'node:fs';
import { type Declaration, findSchemaChanges } from './schema-changes.ts';

/*
 * `npm run schema:check`: compares schema.graphql with the last release's. A breaking change fails it, unless
 * docs/releases/breaking-changes.json declares it. The tree is checked before every commit, so this says little.
 */

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const releases = readdirSync(new URL('docs/releases/', root)).filter((name) => name.endsWith('.graphql'));
const last = releases.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1);
if (last === undefined) throw new Error('docs/releases holds no schema to compare with');

const declarations = JSON.parse(read('docs/releases/breaking-changes.json')) as Declaration[];
const changes = await findSchemaChanges(read(`docs/releases/${last}`), read('schema.graphql'), declarations);

list('Breaking, and not declared in docs/releases/breaking-changes.json', changes.breaking);
list('Declared in docs/releases/breaking-changes.json, yet nothing breaks there', changes.idle);
list('Breaking, as declared', changes.declared);
list('Dangerous', changes.dangerous);
list('New or harmless', changes.harmless);
if (changes.breaking.length + changes.idle.length > 0) process.exitCode = 1;
else process.stdout.write(`schema.graphql breaks no client of ${last.replace('.graphql', '')}.\n`);

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
