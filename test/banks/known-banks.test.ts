import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBankLists, describeRenewal } from '../../src/banks/bank-lists.ts';
import { replaceImport } from '../../src/banks/import/replace-import.ts';
import { createKnownBanks } from '../../src/banks/known-banks.ts';
import type { BankEntry } from '../../src/banks/listed-bank.ts';
import { tEntry, tReplaceRegister } from '../support/banks/import/imports.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';

it.each([
  ['DE', '37040044', true],
  ['DE', '00000000', false],
  ['AT', '12000', true],
  ['FR', '20041', true],
  ['FR', '28233', true],
  ['BE', '766', true],
  ['MQ', '20041', false],
  ['GB', 'NWBK', true],
  ['US', 'NWBK', false],
  ['', '', false],
])('country %s, bank code %s: %s', (country, bankCode, isKnown) => {
  expect(createKnownBanks(createBankLists()).has(country, bankCode)).toBe(isKnown);
});

it('reads the German list before it is needed, but not at the start, and others on first use', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  const lists = createBankLists();
  const read = vi.spyOn(lists, 'banks');
  const knownBanks = createKnownBanks(lists);
  knownBanks.loadSoon();
  vi.advanceTimersByTime(999);
  expect(read).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(read.mock.calls).toEqual([['DE']]);
  expect(knownBanks.has('DE', '37040044')).toBe(true);
  expect(knownBanks.has('LU', '111')).toBe(true);
  expect(knownBanks.has('LU', '112')).toBe(false);
  expect(read.mock.calls).toEqual([['DE'], ['LU']]);
});

it('reads registers of payment schemes before they are needed, too, and again after an import', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  const dataDir = tFolder();
  await tReplaceRegister(dataDir, 'SCT', { AAAADEFFXXX: [[null, null]] });
  const lists = createBankLists({ dataDir });
  const read = vi.spyOn(lists, 'participants');
  const knownBanks = createKnownBanks(lists);
  onTestFinished(() => knownBanks.close());
  knownBanks.loadSoon();
  vi.runAllTimers();
  expect(read.mock.calls).toEqual([['SCT']]);
  expect(knownBanks.schemes('AAAADEFF')).toMatchObject([{ scheme: 'SCT', takesPart: true }]);
  expect(read).toHaveBeenCalledTimes(1);
  const registers = lists.registers();
  vi.spyOn(lists, 'registers').mockReturnValue(registers.map((register) => ({ ...register, revision: 2 })));
  expect(knownBanks.schemes('AAAADEFF')).toMatchObject([{ scheme: 'SCT', takesPart: true }]);
  expect(read).toHaveBeenCalledTimes(2);
});

describe('the status of a bank code', () => {
  it.each([
    ['in a current list', 'DE', '37040044', '2026-11-25', 'LISTED'],
    ['in no list, while the list of the country is complete and valid', 'DE', '00000000', '2026-11-25', 'NOT_LISTED'],
    ['on the last day of the list', 'DE', '00000000', '2026-12-06', 'NOT_LISTED'],
    ['on the day after it', 'DE', '00000000', '2026-12-07', 'UNKNOWN'],
    ['listed, after the last day of the list', 'DE', '37040044', '2026-12-07', 'LISTED'],
    ['that only an older list has', 'DE', '10030200', '2026-11-25', 'UNKNOWN'],
    ['that was deleted from the current list', 'DE', '65461878', '2026-11-25', 'UNKNOWN'],
    ['before it was deleted', 'DE', '65461878', '2026-09-06', 'LISTED'],
    ['in a complete list that is less than a year old', 'AT', '12000', '2026-11-25', 'LISTED'],
    ['not in it', 'AT', '99999', '2026-11-25', 'NOT_LISTED'],
    ['not in it, on its last day', 'AT', '99999', '2027-03-03', 'NOT_LISTED'],
    ['not in it, when it is more than a year old', 'AT', '99999', '2027-03-04', 'UNKNOWN'],
    ['that only an older list than the complete one has', 'AT', '19340', '2026-11-25', 'UNKNOWN'],
    ['not in a complete list of 2022', 'SK', '9999', '2026-11-25', 'UNKNOWN'],
    ['in a list of 2022', 'SK', '0200', '2026-11-25', 'LISTED'],
    ['not in a list of volunteers', 'GB', 'ZZZZ', '2026-11-25', 'UNKNOWN'],
    ['not in a register of institutions', 'FR', '99999', '2026-11-25', 'UNKNOWN'],
    ['of a country without a list', 'VA', '001', '2026-11-25', 'UNKNOWN'],
  ])('%s', (_, country, bankCode, today, expected) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(today) });
    expect(createKnownBanks(createBankLists()).status(country, bankCode)).toBe(expected);
  });

  it.each([
    ['complete and valid', { isComplete: true, validUntil: '2026-12-31' }, 'NOT_LISTED'],
    ['incomplete', { isComplete: false, validUntil: '2026-12-31' }, 'UNKNOWN'],
    [
      'complete, and valid from today',
      { isComplete: true, date: '2026-11-25', validUntil: '2026-12-31' },
      'NOT_LISTED',
    ],
    ['not yet valid', { isComplete: true, date: '2026-11-26', validUntil: '2026-12-31' }, 'UNKNOWN'],
    ['out of date', { isComplete: true, validUntil: '2026-11-24' }, 'UNKNOWN'],
    ['complete, of unknown validity, and a year old', { isComplete: true, date: '2025-11-25' }, 'NOT_LISTED'],
    ['complete, of unknown validity, and older than a year', { isComplete: true, date: '2025-11-24' }, 'UNKNOWN'],
  ])('of an imported list that is %s', async (_, facts, expected) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-25') });
    const knownBanks = await withImport('CZ', [tEntry('0100')], facts);
    expect(knownBanks.status('CZ', '0100')).toBe('LISTED');
    expect(knownBanks.status('CZ', '9999')).toBe(expected);
  });

  it('of a Finnish bank code is that of its first digits', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-25') });
    const knownBanks = await withImport('FI', [tEntry('5')], { isComplete: true, validUntil: '2026-12-31' });
    expect([knownBanks.status('FI', '529'), knownBanks.status('FI', '629')]).toEqual(['LISTED', 'NOT_LISTED']);
  });
});

it('knows the method of the check digit of an imported German bank code', async () => {
  const banks = [tEntry('10000000', { accountCheckMethod: '09' }), tEntry('10010010')];
  const knownBanks = await withImport('DE', banks);
  const methods = ['10000000', '10010010', '37040044'].map((bankCode) => knownBanks.accountCheckMethod(bankCode));
  expect(methods).toEqual(['09', null, null]);
});

it('knows the IBAN rule of a German bank code, first by an imported list that has it', async () => {
  const imported = tEntry('10070000', { accountCheckMethod: '63', ibanRule: '002003' });
  const knownBanks = await withImport('DE', [imported, tEntry('70150000', { accountCheckMethod: '00' })]);
  const rules = ['10070000', '70150000', '68351976', '99999999'].map(knownBanks.ibanRule);
  expect(rules).toEqual([
    { rule: '002003', checkMethod: '63' },
    { rule: '000600', checkMethod: '' },
    { rule: '000900', checkMethod: '' },
    null,
  ]);
});

it('notices an import', async () => {
  const dataDir = tFolder();
  const knownBanks = tKnownBanks(dataDir);
  expect(knownBanks.has('CZ', '9999')).toBe(false);
  await replaceImport(dataDir, { country: 'CZ', source: 'Registry', date: '2026-11-21', entries: [tEntry('9999')] });
  // It looks for imports once per millisecond.
  await vi.waitUntil(() => knownBanks.has('CZ', '9999'));
  expect(knownBanks.has('CZ', '9999')).toBe(true);
});

async function withImport(country: string, entries: readonly BankEntry[], facts = {}) {
  const dataDir = tFolder();
  await replaceImport(dataDir, { country, source: 'Registry', date: '2026-11-21', entries, ...facts });
  return tKnownBanks(dataDir);
}

function tKnownBanks(dataDir: string) {
  const knownBanks = createKnownBanks(createBankLists({ dataDir }));
  onTestFinished(() => knownBanks.close());
  return knownBanks;
}

it.each([
  ['31 days before its last day', '2026-11-05', null],
  ['30 days before it', '2026-11-06', 'the list of DE ends on 2026-12-06; import the next one'],
  ['on its last day', '2026-12-06', 'the list of DE ends on 2026-12-06; import the next one'],
  ['after it', '2026-12-07', 'the list of DE ended on 2026-12-06; import a newer one'],
])('has the command that renews a list: %s', (_, today, expected) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${today}T12:00:00Z`) });
  onTestFinished(() => void vi.useRealTimers());
  const kind = 'NATIONAL_LIST' as const;
  const list = {
    country: 'DE',
    kind,
    source: 'Registry',
    date: '2026-09-07',
    validUntil: '2026-12-06',
    isComplete: true,
  };
  expect(describeRenewal(list)).toBe(expected && `${expected}: ledgerquill import-banks DE FILE`);
  expect(describeRenewal({ ...list, validUntil: null })).toBeNull();
});
