import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceAt, tCheck } from '../support/check/check.ts';
import { soon } from '../support/check/pain-messages.ts';
import { tListeningGateway } from '../support/gateway/http/listening-gateway.ts';
import { replyWithIban, tUpstream } from '../support/scripted-upstream.ts';

// cspell:disable

/* Files in the layouts of banks and programs, in test/data/check: what is said of each, and the exit code that people act on. */

const folder = 'test/data/check';
/** Their right findings are in test/check/pain/cases.test.ts. */
const paymentsFolder = 'test/data/payments';

interface Found {
  code: string;
  severity: string;
  place: unknown;
}

/** What is said beside the rows, without the name of the file. */
function readFindings(text: string): Found[] {
  const lines = text.split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    const {
      file: _,
      code,
      severity,
      line: at,
      xpath,
      findings,
      others = [],
      summary,
      error,
      ...texts
    } = JSON.parse(line);
    if (error) throw new Error(error.message);
    if (summary) return [];
    if (code !== undefined) return [{ code, severity, place: { line: at, xpath }, ...texts }];
    return [findings, ...others.map((other: { findings: Found[] }) => other.findings)].flat();
  });
}

/** A payment on a day that has passed would be another finding. */
function readCase(name: string, from = folder): Buffer {
  const content = readFileSync(join(from, name));
  return name.endsWith('.xml') ? Buffer.from(content.toString().replaceAll('2026-11-30', soon)) : content;
}

const wrong = 'WRONG_CHECK_DIGITS (error)';
const missing = 'IBAN_MISSING (warning)';

/** By file: the exit code, the findings in the order of the summary, and a part of it. */
const cases: Readonly<Record<string, [code: number, findings: readonly string[], summary: string]>> = {
  'bnp-details.csv': [1, [`${wrong}: rows 3, 3`, `${missing}: row 6`], 'names in "Naam van de tegenpartij"'],
  'iban-flags.csv': [0, [], 'IBANs in "IBAN", names in "Name"'],
  'ing-de-preamble.csv': [2, [], 'ing-de-preamble.csv has IBANs'],
  'payer-name-as-payee.csv': [0, [], 'BICs in "Empfänger BIC/BLZ", "Auftraggeber BIC/BLZ", names in "Empfängername"'],
  'rabobank-own-bic.csv': [0, [], 'BICs in "BIC tegenpartij", "BIC", names in "Naam tegenpartij"'],
  'single-payment-polish-payer.xml': [0, [], 'pain.001.001.09, 1 batch, 1 payment'],
  'single-payment.xml': [0, ['PAYEE_VERIFICATION (hint): line 4'], 'pain.001.001.09, 1 batch, 1 payment'],
  'truncated-checked-twice.xml': [1, ['TRUNCATED (error): line 42'], 'not read to its end'],
};

it('each file is a case', () => {
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(cases).toSorted());
});

it.each(Object.entries(cases))('%s ends twice with the same findings, and the exit code', async (name, expected) => {
  const [code, findings, summary] = expected;
  const { run } = tCheck(readCase(name), name);
  const first = await run(['--format', 'json']);
  const second = await run(['--format', 'json']);
  const listed = first.stderr.split('  findings\n')[1] ?? '';
  expect(listed.match(/(?<= )\w+ \(\w+\): .*/g) ?? []).toEqual(findings);
  expect(first.stderr).toContain(summary);
  expect([first.code, second.code]).toEqual([code, code]);
  expect(second.stdout).toBe(first.stdout);
});

it('says the same over HTTP as the command, with the same severities', { timeout: 120_000 }, async () => {
  const upstream = await tUpstream(replyWithIban);
  const { origin } = await tListeningGateway({}, upstream);
  const payments = readdirSync(paymentsFolder).filter((name) => !name.includes('report'));
  const all = [folder, paymentsFolder].flatMap((from) => {
    const names = from === folder ? Object.keys(cases) : payments;
    return names.map((name) => ({ name, content: readCase(name, from) }));
  });
  for (const { name, content } of all) {
    const { stdout, stderr, code } = await tCheck(content, name).run(['--format', 'json'], serviceAt(upstream.url));
    const type = { 'content-type': 'application/octet-stream' };
    const response = await fetch(`${origin}/check`, { method: 'POST', body: new Uint8Array(content), headers: type });
    expect([name, response.status]).toEqual([name, code === 2 ? 400 : 200]);
    const text = await response.text();
    // Options are only for the command, so they are named with it.
    const others = text.replaceAll(/ledgerquill check .*?--\w+/g, '');
    expect([name, others]).toEqual([name, expect.not.stringMatching(/--\w/)]);
    if (!response.ok) continue;
    expect([name, readFindings(text)]).toEqual([name, readFindings(stdout)]);
    // A message has the summary of the command.
    const [said] = text.match(/(?<="summary":\{"text":)".*?[^\\]"/) ?? [];
    expect([name, said !== undefined]).toEqual([name, name.endsWith('.xml')]);
    if (said !== undefined) expect(stderr).toContain(`${name}: ${JSON.parse(said)}\n`);
  }
});

describe('the exit code', () => {
  const right = 'DE89370400440532013000';
  const invalid = `IBAN\n${right}\nDE89370400440532013001\n`;
  const withoutIban = `Name,IBAN\nAnna,${right}\nDora,\n`;
  const otherBic = `IBAN,BIC\n${right},DEUTDEFF\n`;

  it.each([
    ['error', invalid, 1],
    ['error', withoutIban, 0],
    ['error', otherBic, 0],
    ['warning', invalid, 1],
    ['warning', withoutIban, 1],
    ['warning', otherBic, 0],
    ['hint', otherBic, 1],
    ['hint', `IBAN\n${right}\n`, 0],
  ])('with --fail-on %s of %j is %i', async (level, content, code) => {
    expect((await tCheck(content).run(['--fail-on', level])).code).toBe(code);
  });

  it('without --fail-on is that of warnings, and an unknown severity is refused', async () => {
    const [warned, hinted] = [tCheck(withoutIban), tCheck(otherBic)];
    expect([(await warned.run()).code, (await hinted.run()).code]).toEqual([1, 0]);
    const { code, stderr } = await warned.run(['--fail-on', 'info']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are error, warning, hint')]);
  });

  it('is 2 if nothing but answers is missing, and 1 if the file has findings, too', async () => {
    const limit = ['--max-calls', '0'];
    expect((await tCheck(`IBAN\n${right}\n`).run(limit)).code).toBe(2);
    expect((await tCheck(invalid).run(limit)).code).toBe(1);
    expect((await tCheck(`IBAN\n${right}\n`).run([...limit, '--fail-on', 'hint'])).code).toBe(2);
  });
});

it('lists findings by severity first, in the summary', async () => {
  const rows = ['Name,IBAN,BIC', 'Anna,DE89370400440532013000,DEUTDEFF', 'Bob,DE89370400440532013000,DEUTDEFF'];
  const { stderr } = await tCheck([...rows, 'Cara,,', 'Dora,,', 'Emil,DE89370400440532013001,', ''].join('\n')).run();
  expect(stderr.match(/\((?:error|warning|hint)\)/g)).toEqual(['(error)', '(warning)', '(hint)']);
});

it('does not call a right file wrong in a dry run', async () => {
  const rows = Array.from({ length: 40 }, () => 'DE89370400440532013000').join('\n');
  const { code, stdout } = await tCheck(`IBAN\n${rows}\n`).run(['--dry-run', '--fail-on', 'hint']);
  expect([code, stdout]).toEqual([0, expect.not.stringMatching(/NOT_CHECKED|findings/)]);
  expect(stdout).toContain('40  well-formed, but not looked up');
});

describe('a file that is broken', () => {
  it('costs its calls once, whatever is made of it', async () => {
    const upstream = await tUpstream(replyWithIban);
    const env = serviceAt(upstream.url);
    const { run } = tCheck(readCase('truncated-checked-twice.xml'), 'payments.xml');
    expect((await run([], env)).stderr).toContain('3 calls');
    expect((await run([], env)).stderr).toContain('0 calls, 3 answers of the earlier run');
    expect(upstream.calls).toHaveLength(3);
  });

  it('as a table says the same reason again', async () => {
    const broken = `Name,IBAN\n${'Anna,DE89370400440532013000\n'.repeat(5_000)}"Bob,DE89370400440532013000\n${'Cara,DE89370400440532013000\n'.repeat(5_000)}`;
    const { run } = tCheck(broken);
    const first = await run();
    const second = await run();
    expect(first.code).toBe(2);
    expect(first.stderr).toContain('error: ');
    expect([second.code, second.stderr]).toEqual([first.code, first.stderr]);
  });
});
