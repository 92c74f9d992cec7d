import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { replay } from '../../../src/base/input-file.ts';
import type { Finding } from '../../../src/check/finding.ts';
import { fixMessage } from '../../../src/check/pain/fix-message.ts';
import { readStatusReport } from '../../../src/check/pain/status-report.ts';
import { findAllIn } from '../../support/check/pain-messages.ts';

/* Whole messages, each with the mistake of its name, in test/data/payments. */

const today = '2026-11-28';
const read = (name: string) => readFileSync(new URL(`../../data/payments/${name}.xml`, import.meta.url));

interface Case {
  /** The report of the bank. */
  report?: string;
  /** What `--fix` changes: without it, the message is checked. */
  fixed?: readonly string[];
  /** Severity, code and line. */
  findings: readonly string[];
}

const lostTransaction = [15, 16, 7, 8].map(
  (line, index) => `error ${index % 2 === 0 ? 'TRANSACTION_COUNT_MISMATCH' : 'CONTROL_SUM_MISMATCH'} ${line}`,
);

it.each<[name: string, exit: 0 | 1, expected: Case]>([
  [
    '03-vop-sent',
    1,
    // The texts of the message are not the name of the payee.
    { report: '03-vop-report-boilerplate-as-name', findings: ['error PAYEE_NAME_DIFFERS 23'] },
  ],
  [
    '03-vop-single-notprovided-sent',
    1,
    {
      report: '03-vop-single-notprovided-report',
      findings: ['hint PAYEE_VERIFICATION 4', 'error PAYEE_NAME_DIFFERS 23'],
    },
  ],
  ['04-fix-lost-transaction', 1, { fixed: [], findings: lostTransaction }],
  [
    '17-fix-finnish-name',
    1,
    { report: '16-rejection-not-placed', findings: ['warning CHARACTERS_NOT_SEPA 44', 'error BANK_REJECTED 3'] },
  ],
  [
    '17-fix-finnish-name',
    1,
    {
      report: '16-report-of-other-message',
      findings: ['error REPORT_OF_OTHER_MESSAGE 5', 'warning CHARACTERS_NOT_SEPA 44'],
    },
  ],
  ['17-fix-finnish-name', 0, { fixed: ['Mäkinen Öljy Oy -> Makinen Oljy Oy'], findings: [] }], // cspell:disable-line
  ['18-fix-zero-transactions', 1, { fixed: [], findings: ['error MISSING_ELEMENT 11', ...lostTransaction] }],
  ['20-truncated-checked-twice', 1, { findings: ['error TRUNCATED 42'] }],
])('%s exits with %i', async (name, exit, { report, fixed, findings: expected }) => {
  let message: Buffer = read(name);
  if (fixed !== undefined) {
    const changes: string[] = [];
    const parts: Buffer[] = [];
    const onChange = ({ before, after }: { before: string; after: string }) =>
      void changes.push(`${before} -> ${after}`);
    for await (const part of fixMessage(() => replay([read(name)]), { profile: 'auto', today, onChange }))
      parts.push(part);
    expect(changes).toEqual(fixed);
    message = Buffer.concat(parts);
  }
  const given = report === undefined ? {} : { report: await readStatusReport(replay([read(report)])) };
  const { findings } = await findAllIn(message, { today, ...given });
  const describe = ({ severity, code, place }: Finding) => `${severity} ${code} ${'line' in place && place.line}`;
  expect(findings.map(describe)).toEqual(expected);
  expect(findings.some(({ severity }) => severity !== 'hint')).toBe(exit === 1);
  // No name, no IBAN and no total is suggested.
  const suggestions = findings.flatMap(({ code, suggestion }) =>
    code === 'CHARACTERS_NOT_SEPA' ? [] : (suggestion ?? []),
  );
  expect(suggestions).toEqual([]);
});
