import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RegistryFile, refreshRegistryTable, registryFile } from './registry-table.ts';
import { readRegistryText } from './registry-text.ts';

/*
 * `npm run refresh-registry -- <registry file>` writes the registry to src/iban/registry-table.ts. With the text that SWIFT publishes
 * and its release, it first writes them to test/data/iban-registry.json, and prints what changed.
 */

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const registryJson = 'test/data/iban-registry.json';

const [path, release] = process.argv.slice(2);
const isText = path?.endsWith('.txt') ?? false;
if (path === undefined || isText !== (release !== undefined)) {
  process.stderr.write(
    `Usage: npm run refresh-registry -- <published text>.txt '103 (September 2026)'\n` +
      `       npm run refresh-registry -- <registry file, such as ${registryJson}>\n`,
  );
  process.exitCode = 2;
} else {
  refreshAll(path, release ?? null);
}

function refreshAll(path: string, release: string | null): void {
  const parseRegistry = (text: string) => registryFile.parse(JSON.parse(text));
  if (release === null) {
    refreshTable(parseRegistry(readFileSync(path, 'utf8')));
    return;
  }
  const { registry, notes } = readRegistryText(readFileSync(path), release, parseRegistry(read(registryJson)));
  refresh(registryJson, () => JSON.stringify(registry, null, 2));
  refreshTable(registry);
  process.stdout.write(notes.map((note) => `${note}\n`).join(''));
}

function refreshTable(registry: RegistryFile): void {
  refresh('src/iban/registry-table.ts', (table) => refreshRegistryTable(table, registry));
}

function refresh(file: string, change: (text: string) => string): void {
  const before = read(file);
  const target = fileURLToPath(new URL(file, root));
  writeFileSync(target, change(before));
  execFileSync('npx', ['biome', 'format', '--write', target], { cwd: root, stdio: 'ignore' });
  process.stdout.write(`${file}: ${read(file) === before ? 'unchanged' : 'updated'}\n`);
}
