import { type BankLists, createBankLists, findInList, isOld } from '../banks/bank-lists.ts';
import { bankCodeStatus } from '../banks/known-banks.ts';
import { countBanks, type ListedBank } from '../banks/listed-bank.ts';
import { defaultDataDir } from '../base/data-folder.ts';
import { UsageError } from '../base/errors.ts';
import { print } from '../base/process/terminal.ts';
import { compactIban, describeIbanProblem, findIbanProblems, parseIban, printIban } from '../iban/iban.ts';
import { nationalCheck } from '../iban/national-checks.ts';

interface LookUpOptions {
  json?: boolean;
}

/** Prints a bank by its bank code, all banks of a country that begin with it, or the lists. Sets the exit code to 1 if none is found. */
export async function lookUpBanks(country = '', bankCode = '', { json = false }: LookUpOptions = {}): Promise<void> {
  await withLists((lists) => {
    const code = country.toUpperCase();
    if (code === '') return show(json, describeLists(lists), printTable);
    if (!lists.countries().includes(code)) {
      throw new UsageError(`the country must be one of ${lists.countries().join(', ')}, not "${country}"`);
    }
    const wanted = bankCode.replace(/[\s-]/g, '').toUpperCase();
    const banks = lists.banks(code).filter((bank) => bank.bankCode.startsWith(wanted));
    if (banks.length === 0) process.exitCode = 1;
    if (wanted === '' || banks.length > 1) return show(json, banks.map(toRow).sort(byCode), printTable);
    const [bank] = banks;
    show(json, bank ? toRecord(bank) : null, (record) =>
      printRecord(record ?? { error: `no bank code ${wanted} in ${code}` }),
    );
  });
}

/** Checks an IBAN and prints its bank. Sets the exit code to 1 if it is not valid. */
export async function lookUpIban(text: string, { json = false }: LookUpOptions = {}): Promise<void> {
  await withLists(async (lists) => {
    const iban = compactIban(text);
    const problems = findIbanProblems(iban);
    if (problems.length > 0) process.exitCode = 1;
    const parts = parseIban(iban);
    const bankCode = parts?.bankCode ?? '';
    const country = parts?.countryCode ?? '';
    const list = lists.status(country);
    const listed = new Map(lists.banks(country).map((bank) => [bank.bankCode, bank]));
    const bank = findInList(listed, bankCode, parts?.branch);
    const record = {
      iban: printIban(iban),
      valid: problems.length === 0,
      problems: problems.map((problem) => describeIbanProblem(problem, iban)),
      // Not `countryName`, whose names take longer to load than a look-up takes.
      country: parts === null ? '' : (new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? ''),
      bankCode,
      branch: parts?.branch ?? '',
      nationalCheck: nationalCheck(iban, { germanMethod: bank?.accountCheckMethod ?? null }),
      bankCodeStatus: list ? bankCodeStatus(list, bank) : 'UNKNOWN',
      bank: bank && toRecord(bank),
    };
    show(json, record, ({ bank: found, ...others }) =>
      printRecord({ ...others, ...(found ? { bank: '', ...indent(found) } : { bank: 'not in the lists' }) }),
    );
  });
}

async function withLists(use: (lists: BankLists) => void | Promise<void>): Promise<void> {
  // Read here: the checks of all other variables take longer to load than a look-up takes.
  const lists = createBankLists({ dataDir: process.env.DATA_DIR?.trim() || defaultDataDir });
  try {
    await use(lists);
  } finally {
    await lists.close();
  }
}

function toRecord({ isDeleted, successor, ...bank }: ListedBank) {
  const { country, bankCode, name, zip, city, bic, bicSource, source, date } = bank;
  const status = isDeleted ? 'DELETED' : 'LISTED';
  return { country, bankCode, name, zip, city, bic, bicSource, status, successor: successor ?? '', source, date };
}

function toRow({ bankCode, bic, name, zip, city, isDeleted }: ListedBank) {
  return { bankCode, bic, status: isDeleted ? 'DELETED' : 'LISTED', place: `${zip} ${city}`.trim(), name };
}

function byCode(a: { bankCode: string }, b: { bankCode: string }): number {
  return a.bankCode < b.bankCode ? -1 : 1;
}

/** What is known of each list: the table in docs/bank-directories.md. */
export function describeLists(lists: BankLists) {
  return lists.countries().map((country) => {
    const banks = lists.banks(country);
    const present = banks.filter(({ isDeleted }) => !isDeleted);
    const countWith = (field: 'bic' | 'name' | 'city') => present.filter((bank) => bank[field] !== '').length;
    const list = lists.status(country);
    const { date = '', kind = '', source = '' } = list ?? {};
    return {
      country,
      codes: countBanks(country, present),
      closed: banks.length - present.length,
      bics: countWith('bic'),
      names: countWith('name'),
      cities: countWith('city'),
      date,
      old: list !== null && isOld(list) ? 'yes' : 'no',
      kind,
      source,
    };
  });
}

function show<Value>(json: boolean, value: Value, printText: (value: Value) => void): void {
  if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  else printText(value);
}

type Fields = Readonly<Record<string, string | number | boolean | readonly string[]>>;

function printRecord(record: Fields): void {
  const rows = Object.entries(record).filter(([name, value]) => name === 'bank' || String(value) !== '');
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${[value].flat().join(' ')}`.trimEnd());
  print(`${lines.join('\n')}\n`);
}

function indent(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [`  ${name}`, value]));
}

function printTable(rows: readonly Fields[]): void {
  const header = Object.keys(rows[0] ?? {});
  const lines = [header, ...rows.map((row) => header.map((name) => String(row[name])))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  print(`${padded.map((line) => line.trimEnd()).join('\n')}\n`);
}
