import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createBankLists } from '../src/banks/bank-lists.ts';
import { createShippedBanks } from '../src/banks/shipped-banks.ts';
import { describeChanges, type Row, refreshGermanDates, refreshListedBicsDate } from './bank-list-changes.ts';
import { describePlaces, readDirectory } from './bank-places.ts';

/*
 * `npm run refresh-lists`: installs the newest releases of the packages with bank lists, writes their dates to
 * src/banks/shipped-banks.ts and the names that they lack to src/banks/bank-places.tsv, and prints what changed. Today's date decides
 * which German list is in use.
 */

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const versionOf = (name: string): string => JSON.parse(read(`node_modules/${name}/package.json`)).version;

if (process.argv[2] === 'print') {
  refreshPlaces();
  process.stdout.write(JSON.stringify(readRows()));
} else {
  refresh();
}

function refresh(): void {
  const before = readRows();
  const packages = ['bankdata-germany', 'iban-to-bic'];
  const versions = packages.map(versionOf);
  const latest = packages.map((name) => `${name}@latest`);
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...latest], { cwd: root });
  refreshDates();
  // Another process, because this one has loaded the lists already. It also writes the names.
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 } as const;
  const after = execFileSync('npx', ['tsx', 'scripts/refresh-lists.ts', 'print'], options);
  const installed = packages.map((name, index) => `${name} ${versions[index]} -> ${versionOf(name)}`);
  process.stdout.write(`${[...installed, ...describeChanges(before, JSON.parse(after))].join('\n')}\n`);
}

function refreshDates(): void {
  const file = 'src/banks/shipped-banks.ts';
  const readme = read('node_modules/bankdata-germany/README.md');
  const german = refreshGermanDates(read(file), versionOf('bankdata-germany'), readme);
  const changelog = read('node_modules/iban-to-bic/CHANGELOG.md');
  const target = fileURLToPath(new URL(file, root));
  writeFileSync(target, refreshListedBicsDate(german, versionOf('iban-to-bic'), changelog));
}

function refreshPlaces(): void {
  const { countries, banks } = createShippedBanks(() => new Map());
  const rows = describePlaces(countries.flatMap(banks), readDirectory);
  writeFileSync(fileURLToPath(new URL('src/banks/bank-places.tsv', root)), rows);
}

function readRows(): Row[] {
  const lists = createBankLists();
  return lists
    .countries()
    .flatMap((country) => lists.banks(country).map(({ bankCode, name, bic }) => ({ country, bankCode, name, bic })));
}
