import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createBankLists } from '../src/bank-lists/bank-lists.ts';
import { describeChanges, type Row, refreshGermanDates, refreshListedBicsDate } from './bank-list-changes.ts';

/*
 * `npm run refresh-lists`: installs the newest releases of the packages with bank lists, writes their dates to
 * src/bank-lists/shipped-banks.ts, and prints what changed. Today's date decides which German list is in use.
 */

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const npm = (...args: readonly string[]) => execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
const versionOf = (name: string): string => JSON.parse(read(`node_modules/${name}/package.json`)).version;

if (process.argv[2] === 'print') {
  process.stdout.write(JSON.stringify(readRows()));
} else {
  refresh();
}

function refresh(): void {
  const before = readRows();
  const packages = ['bankdata-germany', 'iban-to-bic'];
  const versions = packages.map(versionOf);
  npm('install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages.map((name) => `${name}@latest`));
  refreshDates();
  // Another process, because this one has loaded the lists already.
  const after = execFileSync('npx', ['tsx', 'scripts/refresh-lists.ts', 'print'], { cwd: root, encoding: 'utf8' });
  const installed = packages.map((name, index) => `${name} ${versions[index]} -> ${versionOf(name)}`);
  process.stdout.write(`${[...installed, ...describeChanges(before, JSON.parse(after))].join('\n')}\n`);
}

function refreshDates(): void {
  const file = 'src/bank-lists/shipped-banks.ts';
  const listed = versionOf('iban-to-bic');
  const released: Record<string, string> = JSON.parse(npm('view', 'iban-to-bic', 'time', '--json'));
  const german = refreshGermanDates(
    read(file),
    versionOf('bankdata-germany'),
    read('node_modules/bankdata-germany/README.md'),
  );
  writeFileSync(
    fileURLToPath(new URL(file, root)),
    refreshListedBicsDate(german, listed, (released[listed] ?? '').slice(0, 10)),
  );
}

function readRows(): Row[] {
  const lists = createBankLists();
  return lists.countries().flatMap((country) => lists.banks(country));
}
