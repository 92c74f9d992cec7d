import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { refreshGermanDate, refreshRegistryTable, registryFile } from './registry-table.ts';

/*
 * `npm run refresh-registry -- <registry file>`: writes the registry to src/iban/registry-table.ts, and the date of the
 * installed list of German banks to src/bank-lists/shipped-banks.ts.
 */

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const [path] = process.argv.slice(2);
if (path === undefined) {
  process.stderr.write('Usage: npm run refresh-registry -- <registry file, such as test/data/iban-registry.json>\n');
  process.exitCode = 2;
} else {
  refreshAll(path);
}

function refreshAll(registryPath: string): void {
  const registry = registryFile.parse(JSON.parse(readFileSync(registryPath, 'utf8')));
  refresh('src/iban/registry-table.ts', (table) => refreshRegistryTable(table, registry));

  const { version } = JSON.parse(read('node_modules/bankdata-germany/package.json')) as { version: string };
  const readme = read('node_modules/bankdata-germany/README.md');
  refresh('src/bank-lists/shipped-banks.ts', (source) => refreshGermanDate(source, version, readme));
}

function refresh(file: string, change: (text: string) => string): void {
  const before = read(file);
  const target = fileURLToPath(new URL(file, root));
  writeFileSync(target, change(before));
  execFileSync('npx', ['biome', 'format', '--write', target], { cwd: root, stdio: 'ignore' });
  process.stdout.write(`${file}: ${read(file) === before ? 'unchanged' : 'updated'}\n`);
}
