import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { replay } from '../../../src/base/input-file.ts';
import type { BankFacts } from '../../../src/check/bank-facts.ts';
import type { MessageFinding } from '../../../src/check/finding.ts';
import { fixMessage } from '../../../src/check/pain/fix-message.ts';
import { readStatusReport } from '../../../src/check/pain/status-report.ts';
import { findAllIn } from '../../support/check/pain-messages.ts';

// cspell:ignore noprtry pmtmtd pmttpinf
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
  ['01-sct-non-eea-payee-payer-without-address', 1, { findings: ['error ADDRESS_REQUIRED 19'] }],
  ['02-swiss-current-namespace-unstructured-address', 1, { findings: ['error ADDRESS_WITHOUT_TOWN 29'] }],
  ['02-swiss-qr-iban-as-debtor', 1, { findings: ['error QR_IBAN 17'] }],
  ['04-fix-lost-transaction', 1, { fixed: [], findings: lostTransaction }],
  [
    '05-service-level-typo-hides-five-errors',
    1,
    {
      findings: [
        'warning SERVICE_LEVEL_UNKNOWN 17',
        'error CHARGE_BEARER_NOT_SLEV 22',
        'warning CHARACTERS_NOT_SEPA 29',
        'error CURRENCY_NOT_EUR 33',
        'error ADDRESS_WITHOUT_TOWN 35',
      ],
    },
  ],
  ['06-version-ended-2027', 1, { findings: ['error VERSION_ENDED 3'] }],
  ['07-single-payment', 0, { findings: ['hint PAYEE_VERIFICATION 4'] }],
  ['07-single-payment-polish-payer', 0, { findings: [] }],
  ['15-bba-bad', 1, { findings: ['warning REFERENCE_CHECK_DIGITS 38'] }],
  ['15-ci-noprtry', 1, { findings: ['error MISSING_ELEMENT 22'] }],
  ['15-ct-pmtmtd', 1, { findings: ['error WRONG_CODE 13'] }],
  ['15-dd-svc-missing', 1, { findings: ['error MISSING_ELEMENT 16'] }],
  ['15-lei-chk', 1, { findings: ['error LEI_CHECK_DIGITS 9'] }],
  ['15-pmttpinf-both-levels', 1, { findings: ['error ELEMENT_REPEATED 33'] }],
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
  ['19-unknown-element-in-13', 1, { findings: ['error ELEMENT_NOT_EXPECTED 10'] }],
  ['20-truncated-checked-twice', 1, { findings: ['error TRUNCATED 42'] }],
  [
    '21-german-foreign-and-urgent',
    1,
    {
      findings: [
        'error AGENT_MISSING 18',
        'error ADDRESS_UNSTRUCTURED 21',
        'error ADDRESS_UNSTRUCTURED 29',
        'hint ADDRESS_HYBRID 37',
      ],
    },
  ],
  [
    '22-swiss-foreign-and-slip',
    1,
    {
      findings: [
        'error AGENT_MISSING 18',
        'warning ADDRESS_MISSING 21',
        'error AGENT_MISSING 25',
        'error PAYMENT_SLIP_ENDED 27',
        'warning POSTAL_ACCOUNT 30',
        'warning IBAN_BANK_UNKNOWN 37',
      ],
    },
  ],
  ['23-iban-only-direct-debit', 1, { findings: ['hint COLLECTION_DATE_SOON 15', 'error MISSING_ELEMENT 22'] }],
  ['24-date-far-and-two-names', 0, { findings: ['hint EXECUTION_DATE_FAR 14', 'hint NAMES_DIFFER 28'] }],
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
  // A list of banks that lacks only this one.
  const banks: Partial<BankFacts> = { status: (_, bankCode) => (bankCode === '99999' ? 'NOT_LISTED' : 'LISTED') };
  const { findings } = await findAllIn(message, { today, banks, ...given });
  const describe = ({ severity, code, place }: MessageFinding) => `${severity} ${code} ${place.line}`;
  expect(findings.map(describe)).toEqual(expected);
  expect(findings.some(({ severity }) => severity !== 'hint')).toBe(exit === 1);
  // No name, no IBAN and no total is suggested.
  const isOfBankOrTotal = ({ code }: MessageFinding) => /^(?:PAYEE|BANK|TRANSACTION|CONTROL)_/.test(code);
  expect(findings.filter(isOfBankOrTotal).flatMap(({ suggestion }) => suggestion ?? [])).toEqual([]);
});
