import { describe, expect, it } from 'vitest';
import {
  type Cadence,
  cadences,
  findDateInName,
  findDateInRows,
  latestDate,
  mostFrequentDate,
} from '../../../src/banks/import/files/list-date.ts';

const today = '2026-11-25';
const inRows = (...cells: readonly (string | number)[]) => findDateInRows([{ cells, line: 1 }], today);

describe('the date of a list', () => {
  it.each([
    ['Abfragedatum: 20.11.2026', '2026-11-20'],
    ['Abfrage vom 20.11.2026 09:15:00', '2026-11-20'],
    ['Version 20/11/2026', '2026-11-20'],
    ['Versie 20-11-2026', '2026-11-20'],
    ['platný od 18. 5. 2026', '2026-05-18'],
    ['codes 5.3.2026', '2026-03-05'],
    ['2026-11-20T08:00:00', '2026-11-20'],
    ['as of 2026/11/20', '2026-11-20'],
    ['202611201630000', '2026-11-20'],
    ['20261120', '2026-11-20'],
  ])('is found in "%s"', (text, date) => {
    expect(inRows('Bank', text)).toBe(date);
  });

  it('is the latest in the rows, as the terms may be older', () => {
    expect(inRows('terms of 1.1.2020', '20.11.2026', 'since 5/2019')).toBe('2026-11-20');
  });

  it.each([
    ['a day that the calendar does not have', '31.02.2026'],
    ['a month that the calendar does not have', '11/20/2026'],
    ['a date before 2000', '20.11.1998'],
    ['a date after today, as that of the next list', 'Next publication 26.11.2026'],
    ['a year', 'Luxembourg Register 2026'],
    ['a longer number', '120.11.20267'],
    ['a bank code', '20090500'],
  ])('is not %s', (_, text) => {
    expect(inRows(text)).toBeNull();
  });

  it('is not that of the next list, if a heading has both', () => {
    expect(inRows('As of 25.11.2026', 'Next publication 07.12.2026')).toBe('2026-11-25');
  });

  it.each([
    ['2026-11-25', '2027-02-25'],
    ['2026-11-30', '2027-02-28'],
  ])('is, on %s, at most %s', (day, latest) => {
    expect(latestDate(day)).toBe(latest);
  });

  it.each([
    ['IBAN Denmark Greenland and Faroe Islands – 2020-06-15.xlsx', undefined, '2020-06-15'],
    ['FIK_KODAI_20260505-en.csv', undefined, '2026-05-05'],
    ['fi_mrr_csv_260831.csv', /_(\d\d)(\d\d)(\d\d)\./, '2026-08-31'],
    ['blz-2026-12-07.csv', undefined, null],
    ['fi_mrr_csv_269931.csv', /_(\d\d)(\d\d)(\d\d)\./, null],
    ['blz-aktuell-csv-data.csv', undefined, null],
    ['kody_bank_CR_254.csv', undefined, null],
  ])('in the name of a file is found: %s', (name, pattern, date) => {
    expect(findDateInName(name, pattern, today)).toBe(date);
  });

  it('is the one that most rows have, even if one has a later one', () => {
    const counts = { '2026-11-20': 900, '2026-11-24': 1, '': 3 };
    expect(mostFrequentDate(new Map(Object.entries(counts)), today)).toBe('2026-11-20');
    expect(mostFrequentDate(new Map([['', 9]]), today)).toBeNull();
    expect(mostFrequentDate(new Map(), today)).toBeNull();
  });
});

describe('the last day of a list', () => {
  it.each([
    // By the pages of the Bundesbank: 5 December 2016 to 5 March 2017, 7 September to 6 December 2026.
    ['quarterly', '2016-12-05', '2017-03-05'],
    ['quarterly', '2026-06-08', '2026-09-06'],
    ['quarterly', '2026-09-07', '2026-12-06'],
    ['quarterly', '2026-11-25', '2026-12-06'],
    ['quarterly', '2026-12-06', '2026-12-06'],
    ['quarterly', '2026-12-07', '2027-03-07'],
    ['quarterly', '2026-12-31', '2027-03-07'],
    ['monthly', '2026-10-31', '2026-11-30'],
    ['monthly', '2026-01-31', '2026-02-28'],
    ['calendarMonth', '2026-11-02', '2026-11-30'],
    ['calendarMonth', '2026-12-01', '2026-12-31'],
    ['daily', '2026-11-25', '2027-02-25'],
    // Three months from the import, of a list that is less than a year old.
    ['onChange', '2026-11-25', '2027-02-25'],
    ['onChange', '2025-11-25', '2027-02-25'],
    ['onChange', '2025-11-24', '2025-11-24'],
    ['onChange', '2019-01-31', '2019-01-31'],
  ] as const)('that is published %s, of %s, is %s', (cadence, date, lastDay) => {
    const { lastDay: find }: Cadence = cadences[cadence];
    expect(find(date, today)).toBe(lastDay);
  });
});
