import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { refreshRegistryTable, registryFile } from './registry-table.ts';

/*
 * `npm run refresh-registry -- <registry file>`: writes the registry to src/iban/registry-table.ts.
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
}

function refresh(file: string, change: (text: string) => string): void {
  const before = read(file);
  const target = fileURLToPath(new URL(file, root));
  writeFileSync(target, change(before));
  execFileSync('npx', ['biome', 'format', '--write', target], { cwd: root, stdio: 'ignore' });
  process.stdout.write(`${file}: ${read(file) === before ? 'unchanged' : 'updated'}\n`);
}
