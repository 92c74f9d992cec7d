import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createBankLists } from '../src/banks/bank-lists.ts';
import { createShippedBanks, readShippedLists, type ShippedList } from '../src/banks/shipped-banks.ts';
import { describeChanges, type Row, refreshGermanDates } from './bank-list-changes.ts';
import { printTables } from './print-tables.ts';
import { listsOfTable, printLists, putFirst, readTable } from './shipped-lists.ts';

/*
 * `npm run refresh-lists`: installs the newest release of the package with German banks and writes its dates to
 * src/banks/shipped-banks.ts. `npm run refresh-lists -- banks.tsv schwifty` puts the lists of a table, which the named project
 * made, before those in src/banks/lists. Both print what changed, and write the table in docs/bank-directories.md, as
 * `npm run tables` does. Today's date decides which German list is in use.
 */

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const write = (file: string, content: string) => writeFileSync(fileURLToPath(new URL(file, root)), content);
const germanVersion = (): string => JSON.parse(read('node_modules/bankdata-germany/package.json')).version;

const [table, via = ''] = process.argv.slice(2);
if (table === 'print') process.stdout.write(JSON.stringify(readRows()));
else if (table === 'keep') keepOlderGermanBanks(JSON.parse(readFileSync(0, 'utf8')));
else if (table === undefined) refreshGermanList();
else refreshFromTable(table, via);

function refreshGermanList(): void {
  const before = readRows();
  const version = germanVersion();
  const older = createShippedBanks().lists('DE');
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 } as const;
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', 'bankdata-germany@latest'], options);
  const shippedBanks = 'src/banks/shipped-banks.ts';
  const readme = read('node_modules/bankdata-germany/README.md');
  write(shippedBanks, refreshGermanDates(read(shippedBanks), germanVersion(), readme));
  // Another process, because this one has loaded the dates already.
  execFileSync('npx', ['tsx', 'scripts/refresh-lists.ts', 'keep'], { ...options, input: JSON.stringify(older) });
  const after = JSON.parse(execFileSync('npx', ['tsx', 'scripts/refresh-lists.ts', 'print'], options));
  execFileSync('npx', ['tsx', 'scripts/refresh-lists.ts', 'docs'], options);
  print([`bankdata-germany ${version} -> ${germanVersion()}`, ...describeChanges(before, after)]);
}

/** The file has what the package does not have any more. */
function keepOlderGermanBanks(older: readonly ShippedList[]): void {
  const current = createShippedBanks().lists('DE').slice(0, -readShippedLists('DE').length);
  const isInPackage = ({ source, date }: ShippedList) =>
    current.some((list) => list.source === source && list.date === date);
  write('src/banks/lists/DE.tsv', printLists(putFirst(current, older).filter((list) => !isInPackage(list))));
}

function refreshFromTable(file: string, project: string): void {
  if (project === '') throw new Error('the second argument must be the project that made the table');
  const before = readRows();
  const rows = readTable(readFileSync(file, 'utf8'));
  for (const country of new Set(rows.map((row) => row.country))) {
    const path = `src/banks/lists/${country}.tsv`;
    const older = existsSync(new URL(path, root)) ? readShippedLists(country) : [];
    write(path, printLists(putFirst(listsOfTable(country, rows, project), older)));
  }
  writeTable();
  print(describeChanges(before, readRows()));
}

function writeTable(): void {
  const path = 'docs/bank-directories.md';
  write(path, printTables(path, read(path)));
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function readRows(): Row[] {
  const lists = createBankLists();
  return lists
    .countries()
    .flatMap((country) => lists.banks(country).map(({ bankCode, name, bic }) => ({ country, bankCode, name, bic })));
}
