import { expect, it } from 'vitest';
import { bankFileFormats } from '../../../src/self-hosted/bank-data/directory/files/formats.ts';
import { describeImport } from '../../../src/self-hosted/bank-data/import-output.ts';

it('says one bank and one row, and several banks and rows', () => {
  const [format] = bankFileFormats('DE');
  if (format === undefined) return expect.unreachable();
  const common = { country: 'DE', path: 'blz.csv', date: '2026-11-22', dataDir: '.data', before: 1, format };
  const entry = { bankCode: '37040044', name: 'Bank', zip: '', city: '', bic: '' };
  const one = describeImport({ ...common, entries: [entry], rows: 2, skipped: new Map([['deleted bank codes', 1]]) });
  expect(one).toMatch(/: was 1, now 1\n {2}read +2 rows\n {2}imported +1 bank\n {2}skipped +1 row\n/);
  const none = describeImport({ ...common, entries: [], rows: 1_500, skipped: new Map() });
  expect(none).toMatch(/read +1,500 rows\n {2}imported +0 banks\n {2}skipped +1,500 rows\n/);
});
