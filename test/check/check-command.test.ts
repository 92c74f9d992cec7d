import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import writeWorkbook from 'write-excel-file/node';
import { openPaymentFile } from '../../src/check/open-file.ts';
import { readTables } from '../../src/check/read-rows.ts';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { runCommand } from '../support/command.ts';
import { tIban } from '../support/ibans.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

/* The command `ledgerquill check`. */

const wrong = 'DE89370400440532013001';
const added = 'status,problems,suggestion,bank,bic,bic_match,national_check,iban';
const statusReport = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
  <GrpHdr><MsgId>R1</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>M1</OrgnlMsgId></OrgnlGrpInfAndSts>
</CstmrPmtStsRpt></Document>`;
const lines = (text: string) => text.trimEnd().split(/\r?\n/);
const askedIbans = ({ calls }: { calls: { query: URLSearchParams }[] }) =>
  calls.map(({ query }) => query.get('iban_number'));

describe('the result', () => {
  it('has the rows in their order with what the embedded service knows, and the exit code is 1 for findings', async () => {
    const { run, dataDir } = tCheck(
      `Name,IBAN,BIC\nAnna,DE89 3704 0044 0532 0130 00,COBADEFFXXX\nBob,${wrong},\nCara,DE89370400440532013000,DEUTDEFF\n\nDora,,\n`,
    );
    const { code, stdout, stderr } = await run();
    expect(lines(stdout)).toEqual([
      `Name,IBAN,BIC,${added}`,
      'Anna,DE89 3704 0044 0532 0130 00,COBADEFFXXX,VALID,,,Commerzbank,COBADEFFXXX,SAME_BANK,NOT_APPLICABLE,DE89370400440532013000',
      `Bob,${wrong},,INVALID,WRONG_CHECK_DIGITS,DE89370400440532013000 DE89370400420532013001,,,,,`,
      'Cara,DE89370400440532013000,DEUTDEFF,VALID,BIC_OF_OTHER_BANK,,Commerzbank,COBADEFFXXX,OTHER_BANK,NOT_APPLICABLE,DE89370400440532013000',
      '',
      'Dora,,,EMPTY,IBAN_MISSING,,,,,,',
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('payees.csv: 6 rows read, 4 checked, IBANs in "IBAN", BICs in "BIC", names in "Name"');
    expect(stderr).toContain('WRONG_CHECK_DIGITS (error): row 3');
    expect(stderr).toContain('1 IBAN looked up');
    expect(stderr).not.toContain(wrong);
    expect(readdirSync(dataDir).filter((name) => name.includes('journal'))).toEqual([]);
  });

  it('reports a payee without an IBAN, whatever the account of the payer is called', async () => {
    const { run } = tCheck(`Name,Beneficiary IBAN,Debit account\nAnna,${tIban(1)},${tIban(2)}\nBob,,${tIban(3)}\n`);
    const { code, stderr } = await run();
    expect([code, stderr]).toEqual([1, expect.stringContaining('IBAN_MISSING (warning): row 3')]);
  });

  it('names the bank lists that it was compared with and that are out of date', async () => {
    const rows = 'DE89370400440532013000,COBADEFFXXX\nSK3112000000198742637541,SUBASKBX\n';
    const { stderr } = await tCheck(`IBAN,BIC\n${rows}`).run();
    expect(stderr).toContain('\ncompared with bank lists that are out of date: SK of 2022-04-11\n');
    expect((await tCheck('IBAN,BIC\nDE89370400440532013000,COBADEFFXXX\n').run()).stderr).not.toContain('out of date');
  });

  it('is clean with the exit code 0, and nothing but rows is printed with --quiet', async () => {
    const { run } = tCheck(`IBAN\nDE89370400440532013000\n`);
    const { code, stdout, stderr } = await run(['--quiet']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines(stdout)).toHaveLength(2);
  });

  it('in JSON has one object a line, with the row and the column of each finding, and cells as they are', async () => {
    const { run, file } = tCheck(`Name;Konto\n=1+1;${wrong}\nBob;DE89370400440532013000\n`);
    const { stdout } = await run(['--format', 'json']);
    const [first, second] = lines(stdout).map((line) => JSON.parse(line));
    const suggestion = 'DE89370400440532013000 DE89370400420532013001';
    expect(first).toEqual({
      file,
      row: 2,
      name: '=1+1',
      status: 'INVALID',
      problems: ['WRONG_CHECK_DIGITS'],
      suggestion,
      bank: null,
      bic: null,
      bic_match: null,
      national_check: null,
      iban: null,
      findings: [
        {
          code: 'WRONG_CHECK_DIGITS',
          severity: 'error',
          place: { row: 2, column: 'Konto' },
          message: 'The check digits do not match the rest of the IBAN.',
          suggestion,
        },
      ],
      cells: ['=1+1', wrong],
    });
    expect(second).toMatchObject({ row: 3, status: 'VALID', bank: 'Commerzbank', iban: 'DE89370400440532013000' });
  });

  it('is written to a file, which appears when it is complete', async () => {
    const { run, read, path } = tCheck(`IBAN\n${tIban(1)}\n`);
    const { code, stdout } = await run(['--output', path('checked.csv')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(lines(read('checked.csv'))[1]).toMatch(/^DE.*,VALID,/);
    expect(existsSync(path('checked.csv.part'))).toBe(false);
    expect(existsSync(path('checked.csv.journal'))).toBe(false);
  });

  it('keeps cells beyond the columns, behind the added ones', async () => {
    const { run } = tCheck(`Name,IBAN\nAnna,${tIban(1)},x,y\nBob\n`);
    const { stdout } = await run();
    expect(lines(stdout)[1]).toMatch(new RegExp(`^Anna,${tIban(1)},VALID,ROW_TOO_LONG,.*,${tIban(1)},x,y$`));
    expect(lines(stdout)[2]).toBe('Bob,,EMPTY,IBAN_MISSING,,,,,,');
  });

  it('of several files names each of them', async () => {
    const { run, path, file } = tCheck(`IBAN\n${tIban(1)}\n`);
    writeFileSync(path('more.csv'), `Text;Konto\nx;${tIban(2)}\ny;${tIban(1)}\n`);
    const { stdout, stderr } = await run([path('more.csv'), '--format', 'json']);
    expect(lines(stdout).map((line) => [JSON.parse(line).file, JSON.parse(line).row])).toEqual([
      [file, 2],
      [path('more.csv'), 2],
      [path('more.csv'), 3],
    ]);
    expect(stderr).toContain('2 IBANs looked up');
  });

  it('is made of standard input', async () => {
    const { code, stdout } = await runCommand(['check', '-', '--quiet'], {}, `IBAN\n${tIban(1)}\n`);
    expect(code).toBe(0);
    expect(lines(stdout)[1]).toMatch(/,VALID,/);
  });
});

describe('workbooks', () => {
  const tRows = async (path: string) => {
    const [table] = await readTables(await openPaymentFile(path));
    const rows = [];
    for await (const group of table.groups) rows.push(...group);
    return rows;
  };
  const sheet = [
    ['Payroll', null, null],
    ['Name', 'IBAN', 'Amount'],
    ['Anna', tIban(1), -12.5],
    ['=1+1', wrong, 7],
  ];

  it('are read and written, with their numbers', async () => {
    const { run, path } = tCheck(await writeWorkbook(sheet).toBuffer(), 'payroll.xlsx');
    expect((await run(['--output', path('checked.xlsx')])).code).toBe(1);
    const [above, titles, first, second] = await tRows(path('checked.xlsx'));
    expect(above?.[0]).toBe('Payroll');
    expect(titles).toEqual(['Name', 'IBAN', 'Amount', ...added.split(',')]);
    expect(first?.slice(0, 4)).toEqual(['Anna', tIban(1), -12.5, 'VALID']);
    expect(second?.slice(0, 5)).toEqual(["'=1+1", wrong, 7, 'INVALID', 'WRONG_CHECK_DIGITS']);
  });

  it('become CSV, and CSV becomes a workbook', async () => {
    const workbook = tCheck(await writeWorkbook(sheet).toBuffer(), 'payroll.xlsx');
    expect(lines((await workbook.run()).stdout)[1]).toBe(`Name,IBAN,Amount,${added}`);
    const table = tCheck(`IBAN\n${tIban(1)}\n`);
    await table.run(['--output', table.path('checked.xlsx')]);
    expect((await tRows(table.path('checked.xlsx')))[1]?.[0]).toBe(tIban(1));
  });

  it('are not written with more rows than their limit, before anything is asked', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, path } = tCheck(`IBAN\n${`${tIban(1)}\n`.repeat(100_001)}`);
    const { code, stderr } = await run(['--output', path('checked.xlsx')], serviceAt(upstream.url));
    expect(code).toBe(2);
    expect(stderr).toContain('a workbook can have 100,000 rows, and there are more; use --format csv');
    expect(upstream.calls).toEqual([]);
  });
});

describe('the calls', () => {
  const content = `IBAN\n${[1, 2, 1, 3, 2, 1].map(tIban).join('\n')}\n${wrong}\n`;

  it('are one for each well-formed IBAN, however often and however it is written', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run } = tCheck(
      `${content}${tIban(1)
        .toLowerCase()
        .replace(/(.{4})/g, '$1 ')}\n`,
    );
    await run([], serviceAt(upstream.url));
    expect(askedIbans(upstream).toSorted()).toEqual([1, 2, 3].map(tIban).toSorted());
  });

  it('are counted by a dry run, which makes none', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run } = tCheck(content);
    const { code, stdout } = await run(['--dry-run'], serviceAt(upstream.url));
    expect(code).toBe(1);
    expect(stdout).toContain('3 calls at most: answers in caches cost none');
    expect(stdout).toContain('WRONG_CHECK_DIGITS');
    expect(upstream.calls).toEqual([]);
    const clean = tCheck(`IBAN\n${tIban(1)}\n`);
    expect((await clean.run(['--dry-run'])).code).toBe(0);
  });

  it('end at --max-calls, and the answers are used by --resume', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, path, read } = tCheck(content);
    const args = ['--output', path('out.csv')];
    const env = { ...serviceAt(upstream.url), UPSTREAM_CONCURRENCY: '1' };
    const limited = await run([...args, '--max-calls', '2'], env);
    expect(limited.code).toBe(1);
    expect(askedIbans(upstream)).toEqual([tIban(1), tIban(2)]);
    expect(lines(read('out.csv')).map((line) => line.split(',')[1])).toEqual([
      ...['status', 'VALID', 'VALID', 'VALID', 'NOT_CHECKED', 'VALID', 'VALID', 'INVALID'],
    ]);
    expect(limited.stderr).toContain('not all IBANs were looked up: the calls of --max-calls are used up');

    const again = await run(args, env);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain(
      'exists already: continue its run with --resume, or replace the file with --overwrite',
    );
    const overwriting = await run([...args, '--overwrite'], env);
    expect(overwriting.stderr).toContain('add --resume to use them, or delete it to ask again');

    expect((await run(['--dry-run', '--resume', ...args], env)).stdout).toContain('1 call at most');
    expect((await run([...args, '--resume'], env)).stderr).toContain('1 call, 2 answers of the earlier run');
    expect(askedIbans(upstream)).toEqual([tIban(1), tIban(2), tIban(3)]);
    expect(read('out.csv')).not.toContain('NOT_CHECKED');
    expect(existsSync(path('out.csv.journal'))).toBe(false);
  });

  it('of the embedded service end at --max-calls, too', async () => {
    const { run, path } = tCheck(content);
    const args = ['--output', path('out.csv')];
    const limited = await run([...args, '--max-calls', '2']);
    expect(limited.code).toBe(1);
    expect(limited.stderr).toContain('2 IBANs looked up\n');
    expect(limited.stderr).toContain('not all IBANs were looked up: the calls of --max-calls are used up');
    expect((await run([...args, '--resume'])).stderr).toContain('1 IBAN looked up, 2 answers of the earlier run');
  });

  it('are in the audit trail, and those of the embedded service, which are free, are not', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, dataDir } = tCheck(content);
    await run([], serviceAt(upstream.url));
    await run([]);
    const { stdout } = await runCommand(['audit', 'sum', '--by', 'caller,tool,outcome'], { DATA_DIR: dataDir });
    expect(lines(stdout).slice(1)).toEqual(['cli:check,iban_validate,answered,3,3,0,0,0,,,']);
    const off = tCheck(content);
    await off.run([], { ...serviceAt(upstream.url), AUDIT_DAYS: '0' });
    expect(existsSync(`${off.dataDir}/audit`)).toBe(false);
  });

  it('count towards the monthly allowance of the gateway', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, dataDir } = tCheck(content);
    const env = { ...serviceAt(upstream.url), BANK_DATA_MONTHLY_ALLOWANCE: '100' };
    await run([], env);
    const { stdout } = await runCommand(['allowance', 'show'], { ...env, DATA_DIR: dataDir });
    expect(stdout).toMatch(/bank-data.*\b3\b.*100/);
  });
});

describe('a check that cannot be completed exits with 2 and says why', () => {
  it.each([
    ['a file that does not exist', ['/nowhere.csv'], '/nowhere.csv does not exist'],
    ['an option that does not exist', ['--nothing'], "unknown option '--nothing'"],
    ['a format that does not exist', ['--format', 'pdf'], 'Allowed choices are csv, xlsx, json'],
    ['a wrong number', ['--max-calls', 'many'], '--max-calls must be a number of calls such as 1000'],
    ['a workbook on standard output', ['--format', 'xlsx'], '--format xlsx needs --output'],
    ['an option given twice', ['--column', 'IBAN', '--column', 'IBAN'], '--column can be given once'],
    ['a column that does not exist', ['--column', 'Account no'], 'has no column "Account no"'],
    ['a gateway that does not exist', ['--gateway', 'http://127.0.0.1:1'], 'cannot be reached (ECONNREFUSED)'],
    ['a gateway that is no URL', ['--gateway', 'gateway'], '--gateway must be a URL such as'],
    ['a missing file of variables', ['--dotenv', '/nowhere.env'], '/nowhere.env: must be a file of lines'],
  ])('%s', async (_, args, message) => {
    const { run, path } = tCheck(`IBAN\n${tIban(1)}\n`);
    const { code, stderr } = await run(args[0]?.startsWith('/') ? [...args, '--format', 'json'] : args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(existsSync(path('payees.csv.journal'))).toBe(false);
  });

  it('a wrong configuration', async () => {
    const { run } = tCheck(`IBAN\n${tIban(1)}\n`);
    const { code, stderr } = await run([], { BANK_DATA_URL: 'nothing' });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('BANK_DATA_URL') });
  });

  it('several tables in one, or the same file as input and output', async () => {
    const { run, file } = tCheck(`IBAN\n${tIban(1)}\n`);
    expect((await run([file])).stderr).toContain('csv has the rows of one table');
    expect((await run(['--output', file])).stderr).toContain('--output must be another file');
  });

  it.each(['\uFEFF', '\n\n ,\n'])('a table with nothing in it: %j', async (content) => {
    const { code, stderr } = await tCheck(content).run();
    expect([code, stderr]).toEqual([2, expect.stringContaining('payees.csv has no rows, or its first rows are blank')]);
  });

  it.each([
    ['--fix', 'fixed.xml'],
    ['--report', 'other.xml'],
    ['--profile', 'sepa'],
  ])('a table with %s, which is for payment messages', async (option, value) => {
    const { run, path } = tCheck(`IBAN\n${tIban(1)}\n`);
    writeFileSync(path('other.xml'), statusReport);
    const { code, stdout, stderr } = await run([option, option === '--profile' ? value : path(value)]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('payees.csv is not XML')]);
  });

  it.each([
    ['--column', 'IBAN'],
    ['--bic-column', '2'],
    ['--sheet', 'Payees'],
    ['--encoding', 'utf-8'],
  ])('a payment message with %s, which is for tables', async (option, value) => {
    const { run } = tCheck(statusReport, 'payments.xml');
    const { code, stderr } = await run([option, value]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`payments.xml is XML, but ${option} is about tables`)]);
  });

  it.each(['checked.pdf', 'checked.xls', 'checked.csv.new'])(
    'an output by the name of another format: %s',
    async (name) => {
      const { run, path } = tCheck(`IBAN\n${tIban(1)}\n`);
      const { code, stderr } = await run(['--output', path(name)]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('results are .csv, .xlsx, .json') });
      expect(existsSync(path(name))).toBe(false);
      expect((await run(['--output', path(name), '--format', 'csv'])).code).toBe(0);
    },
  );
});

describe('DATA_DIR', () => {
  it('is not needed for a result in a file', async () => {
    const { run, path } = tCheck('IBAN\nDE89370400440532013000\n');
    const env = { DATA_DIR: path('new/data') };
    const { code, stderr } = await run(['--output', path('checked.csv')], env);
    expect({ code, isNew: !existsSync(env.DATA_DIR) }).toEqual({ code: 0, isNew: true });
    expect(stderr).not.toContain('DATA_DIR');
  });

  it('is left only if something is kept in it, and named when it is created', async () => {
    const { run, path } = tCheck('IBAN\nDE89370400440532013000\n');
    const env = { DATA_DIR: path('new/data') };
    const created = `created the folder ${path('new/data')} (DATA_DIR)`;
    expect((await run([], env)).stderr).not.toContain('DATA_DIR');
    expect(existsSync(env.DATA_DIR)).toBe(false);
    expect((await run(['--max-calls', '0'], env)).stderr).not.toContain('DATA_DIR');
    const upstream = await tUpstream(replyWithIban);
    expect((await run([], { ...env, ...serviceAt(upstream.url) })).stderr).toContain(created);
    expect((await run([], { ...env, ...serviceAt(upstream.url) })).stderr).not.toContain('DATA_DIR');
  });
});
