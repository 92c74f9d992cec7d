// cspell:ignore Sohne
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { rightMessage, soon, versions } from '../support/check/pain-messages.ts';
import { tIban } from '../support/ibans.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

/* The command `ledgerquill check` on payment messages. */

const lines = (text: string) => text.trimEnd().split('\n');
const tMessage = (version = versions[1] ?? 'pain.001.001.09') =>
  rightMessage(version).replaceAll('2026-11-30', soon).replaceAll('2026-11-26T', '2025-11-26T');
const wrongIban = 'DE89370400440532013001';
/** With a wrong IBAN, a BIC of another bank, and characters outside the SEPA set. */
const tWrong = () =>
  tMessage()
    .replace('DE89370400440532013000', wrongIban)
    .replace('<Nm>Creditor 2</Nm>', '<Nm>Müller = Söhne</Nm>')
    .replace('<NbOfTxs>3<', '<NbOfTxs>4<');

describe('a payment message', () => {
  it.each(versions.filter((version) => /\.0[89]$/.test(version)))(
    'of %s without a finding exits with 0',
    async (version) => {
      const { run, dataDir } = tCheck(tMessage(version), 'payments.xml');
      const { code, stdout, stderr } = await run();
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      expect(stderr).toContain(
        `payments.xml: ${version}, 2 batches, 3 ${version.startsWith('pain.008') ? 'direct debits' : 'payments'}, 3 different IBANs, EUR 1112.35, judged by the rules of SEPA\n3 IBANs looked up\n`,
      );
      expect(readdirSync(dataDir).filter((name) => name.includes('journal'))).toEqual([]);
    },
  );

  it('with findings has one a line, in JSON, and exits with 1', async () => {
    const { run, file } = tCheck(tWrong(), 'payments.xml');
    const { code, stdout, stderr } = await run();
    const findings = lines(stdout).map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(findings.map((finding) => finding.code)).toEqual([
      ...['WRONG_CHECK_DIGITS', 'CHARACTERS_NOT_SEPA', 'TRANSACTION_COUNT_MISMATCH'],
    ]);
    expect(findings[0]).toEqual({
      file,
      code: 'WRONG_CHECK_DIGITS',
      severity: 'error',
      line: expect.any(Number),
      xpath: '/Document/CstmrCdtTrfInitn/PmtInf[1]/DbtrAcct/Id/IBAN',
      ...{ batch: 'PAYMENT-1', payee: null, amount: null, end_to_end_id: null },
      message: expect.any(String),
      suggestion: 'DE89370400440532013000',
    });
    expect(stderr).toContain(`WRONG_CHECK_DIGITS (error): line ${findings[0].line}`);
    expect(stderr).not.toContain(wrongIban);
  });

  it('is judged by the rules of --profile', async () => {
    const message = tMessage().replaceAll(/<CdtrAgt>.*?<\/CdtrAgt>/g, '');
    const { run } = tCheck(message.replace('<Nm>Creditor 2</Nm>', '<Nm>Müller</Nm>'), 'payments.xml');
    const codesWith = async (...args: string[]) =>
      lines((await run(args)).stdout).flatMap((line) => (line === '' ? [] : [JSON.parse(line).code]));
    expect(await codesWith()).toEqual(['CHARACTERS_NOT_SEPA']);
    expect(await codesWith('--profile', 'dk')).toEqual(['CHARACTERS_CONVERTED']);
    expect(await codesWith('--profile', 'sps')).toEqual([]);
    expect(await codesWith('--profile', 'iso')).toEqual([]);
    expect((await run(['--profile', 'other'])).code).toBe(2);
  });

  it('has its findings in CSV if the output is, without formulas', async () => {
    const { run, read, path } = tCheck(tWrong().replaceAll('Müller = Söhne', '=Müller'), '=payments.xml');
    expect((await run(['--output', path('findings.csv'), '--quiet'])).code).toBe(1);
    const [titles, first, second] = lines(read('findings.csv'));
    expect(titles).toBe('file,code,severity,line,xpath,batch,payee,amount,end_to_end_id,message,suggestion');
    expect(first).toMatch(/,WRONG_CHECK_DIGITS,error,\d+,\/Document\/.*,DE89370400440532013000$/);
    expect(second).toMatch(/,CHARACTERS_NOT_SEPA,warning,\d+,\/Document\/.*,\.Muller$/);
  });

  it('is repaired by --fix in a copy, which is checked', async () => {
    const wrong = tWrong().replace('NL91ABNA0417164300', 'NL91 ABNA 0417 1643 00');
    const { run, file, path, read } = tCheck(wrong, 'payments.xml');
    const { code, stdout, stderr } = await run(['--fix', path('fixed.xml')]);
    const listed = lines(stdout).map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(listed.map((each) => [each.file, each.code])).toEqual([
      [file, 'TRANSACTION_COUNT_MISMATCH'],
      [file, 'CHARACTERS_NOT_SEPA'],
      [file, 'IBAN_NOT_COMPACT'],
      [path('fixed.xml'), 'WRONG_CHECK_DIGITS'],
    ]);
    expect(listed[0]).toMatchObject({ line: 7, before: '4', after: '3' });
    expect(stderr).toContain('3 changes in ');
    expect(read('payments.xml')).toBe(wrong);
    expect(read('fixed.xml')).toBe(
      tMessage().replace('DE89370400440532013000', wrongIban).replace('Creditor 2', 'Muller . Sohne'),
    );
  });

  it('of which nothing is to be repaired has a copy that is the same, and the summary says so', async () => {
    const { run, path, read } = tCheck(tMessage(), 'payments.xml');
    const { code, stderr } = await run(['--fix', path('fixed.xml')]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/payments\.xml: nothing was to be changed, so .*fixed\.xml is the same\n/),
    ]);
    expect(read('fixed.xml')).toBe(tMessage());
  });

  it('of 2009 is renovated by --renovate in a copy, which is checked', async () => {
    const before = tMessage('pain.001.001.03').replace('<StrtNm>Main Street</StrtNm><TwnNm>Frankfurt</TwnNm>', '');
    const { run, file, path, read } = tCheck(before, 'payments.xml');
    const { code, stdout, stderr } = await run(['--renovate', path('new.xml')]);
    const listed = lines(stdout).map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(listed[0]).toMatchObject({ file, code: 'VERSION_ENDED', after: expect.stringContaining('pain.001.001.09') });
    // What a person must add.
    expect(listed.filter(({ severity }) => severity)).toEqual([
      expect.objectContaining({
        ...{ file: path('new.xml'), code: 'ADDRESS_WITHOUT_TOWN' },
        message: 'The address has no town. Add TwnNm, or leave the address out.',
      }),
    ]);
    expect(stderr).toMatch(/payments\.xml: 5 changes in .*new\.xml\n.*new\.xml: pain\.001\.001\.09, 2 batches/);
    expect(read('payments.xml')).toBe(before);
    const again = await tCheck(read('new.xml'), 'new.xml').run(['--renovate', path('newer.xml')]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--fix also structures')]);
    expect(existsSync(path('newer.xml'))).toBe(false);
  });

  it.each<[name: string, args: string[], other: string, file?: string]>([
    ['--renovate', ['--renovate', 'payments.xml'], 'the one that is checked'],
    ['--fix', ['--fix', 'payments.xml'], 'the one that is checked'],
    ['--fix, before it is complete', ['--fix', 'new.xml'], 'the one that is checked', 'new.xml.part'],
    ['--fix of its link', ['--fix', 'link.xml'], 'the one that is checked'],
    ['--output', ['--output', 'folder/../payments.xml', '--format', 'json'], 'the one that is checked'],
    [
      '--output, in place of its report',
      ['--report', 'report.xml', '--output', 'report.xml', '--format', 'json'],
      'the report',
    ],
    ['--fix, in place of its report', ['--report', 'report.xml', '--fix', 'report.xml'], 'the report'],
    ['the journal of --output', ['--report', 'new.json.journal', '--output', 'new.json'], 'the report'],
    ['both', ['--fix', 'new.json', '--output', 'folder/../new.json'], 'that of --output'],
    ['both, before they are complete', ['--fix', 'new.json.part', '--output', 'new.json'], 'that of --output'],
  ])('is never replaced by %s', async (_, args, other, name = 'payments.xml') => {
    const { run, path, read } = tCheck(tMessage(), name);
    mkdirSync(path('folder'));
    symlinkSync(path(name), path('link.xml'));
    const reports = ['report.xml', 'new.json.journal'];
    for (const report of reports) writeFileSync(path(report), tMessage());
    const result = await run(args.map((arg) => (/^--|^json$/.test(arg) ? arg : path(arg))));
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(`must be another file than ${other}`) });
    for (const each of [name, ...reports]) expect(read(each)).toBe(tMessage());
  });

  it('that is cut off has no copy', async () => {
    const { run, path } = tCheck(tMessage().slice(0, 2_000), 'payments.xml');
    const { code, stdout, stderr } = await run(['--fix', path('fixed.xml')]);
    expect(code).toBe(1);
    expect(JSON.parse(lines(stdout).at(-1) ?? '')).toMatchObject({ code: 'TRUNCATED' });
    expect(stderr).toContain('no copy was written');
    expect(existsSync(path('fixed.xml')) || existsSync(path('fixed.xml.part'))).toBe(false);
  });

  it('that the bank accepts says so in the summary', async () => {
    const { run, path } = tCheck(tMessage(), 'payments.xml');
    const report = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>BANK-1</MsgId></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>MESSAGE-1</OrgnlMsgId><GrpSts>ACCP</GrpSts></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>`;
    writeFileSync(path('report.xml'), report);
    const { code, stdout, stderr } = await run(['--report', path('report.xml')]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('\nreport BANK-1: all 3 payments accepted\n');
  });

  it('that was checked before, by its identification, is found', async () => {
    const { run, path } = tCheck(tMessage(), 'one.xml');
    writeFileSync(path('two.xml'), tMessage('pain.001.001.03'));
    const { code, stdout } = await run([path('two.xml')]);
    expect(code).toBe(1);
    expect(lines(stdout).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ file: path('two.xml'), code: 'DUPLICATE_MESSAGE_ID' }),
      expect.objectContaining({ file: path('two.xml'), code: 'VERSION_ENDED' }),
    ]);
  });

  it('is checked together with tables, each IBAN once', async () => {
    const upstream = await tUpstream(replyWithIban);
    const { run, path } = tCheck(tMessage(), 'payments.xml');
    writeFileSync(path('payees.csv'), `IBAN\nDE89370400440532013000\n${tIban(1)}\n`);
    const args = [path('payees.csv'), '--format', 'json'];
    const dryRun = await run([...args, '--dry-run'], serviceAt(upstream.url));
    expect(dryRun.code).toBe(0);
    expect(dryRun.stdout).toContain('4 calls at most: answers in caches cost none');
    expect(dryRun.stdout).toContain('3 payments, 3 different IBANs');
    expect(upstream.calls).toEqual([]);
    const { stdout, stderr } = await run(args, serviceAt(upstream.url));
    expect(lines(stdout).map((line) => JSON.parse(line).file)).toEqual([path('payees.csv'), path('payees.csv')]);
    expect(stderr).toContain('\n4 calls');
    expect(upstream.calls).toHaveLength(4);
    const mixed = await run([path('payees.csv')], serviceAt(upstream.url));
    expect(mixed).toMatchObject({ code: 2, stderr: expect.stringContaining('csv has the rows of one table') });
    expect(upstream.calls).toHaveLength(4);
  });
});

it('XML cannot be written as a workbook, which is said before anything is asked', async () => {
  const upstream = await tUpstream(replyWithIban);
  const { run, path } = tCheck(tMessage(), 'payments.xml');
  const { code, stderr } = await run(['--output', path('findings.xlsx')], serviceAt(upstream.url));
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('is an XML file, whose findings are written with --format json or csv'),
  });
  expect(upstream.calls).toEqual([]);
});
