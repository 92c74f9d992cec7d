import { expect, it } from 'vitest';
import { bankFileFormats } from '../../../src/banks/import/files/formats.ts';
import { describeImport } from '../../../src/banks/import/import-output.ts';

it('the summary says one bank and one row, and several banks and rows', () => {
  const [format] = bankFileFormats('DE');
  if (format === undefined) return expect.unreachable();
  const dates = { date: '2026-11-22', dateOrigin: 'file', validUntil: '2026-12-06', isComplete: true } as const;
  const faults = { count: 0, leftOut: 0, first: [] };
  const common = { country: 'DE', path: 'blz.csv', ...dates, faults, dataDir: '.data', before: 1, format };
  const entry = { bankCode: '37040044', name: 'Bank', zip: '', city: '', bic: '' };
  const one = describeImport({ ...common, entries: [entry], rows: 2, skipped: new Map([['deleted bank codes', 1]]) });
  expect(one).toMatch(/: was 1, now 1\n {2}read +2 rows\n {2}imported +1 bank\n {2}skipped +1 row\n/);
  expect(one).toMatch(/\n {2}date +2026-11-22\n {2}until +2026-12-06\n/);
  const none = describeImport({
    ...common,
    entries: [],
    rows: 1_500,
    skipped: new Map([['deleted bank codes', 1_500]]),
  });
  expect(none).toMatch(/read +1,500 rows\n {2}imported +0 banks\n {2}skipped +1,500 rows\n/);
  const hungarian = ['117', '1177301', '1170002'].map((bankCode) => ({ ...entry, bankCode }));
  const branches = describeImport({ ...common, country: 'HU', entries: hungarian, rows: 2, skipped: new Map() });
  expect(branches).toMatch(/: was 1, now 1\n.*\n {2}imported +1 bank, 2 branches\n/);
  const wrong = { count: 2, leftOut: 1, first: ['line 2, left out: x'] };
  expect(describeImport({ ...common, entries: [entry], rows: 3, skipped: new Map(), faults: wrong })).toMatch(
    /\n {2}wrong +2 rows\n {13}line 2, left out: x\n {13}and 1 more row\n/,
  );
});
