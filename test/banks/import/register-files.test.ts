import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { readRegisterFile } from '../../../src/banks/import/files/read-register-file.ts';
import { tParticipant, tRegisterText } from '../../support/banks/import/imports.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

/** The content of a register with this text or these bytes. */
function read(content: string | Buffer) {
  const path = join(tFolder(), 'sct.csv');
  writeFileSync(path, content);
  return readRegisterFile({ path });
}

const others = Array.from({ length: 200 }, (_, index) => tParticipant(`BBBBFRPP${100 + index}`));

describe('a register', () => {
  it('has participants with their dates, by BIC of 11 characters', async () => {
    const { scheme, participants, rows, withoutBic, faults } = await read(
      tRegisterText([
        tParticipant('AAAADEFF', '2019-01-07'),
        tParticipant('AAAADEF1ABC', '2019-01-07', '2027-01-04'),
        tParticipant('AAAAATWWXXX', ''),
        tParticipant(''),
      ]),
    );
    expect([scheme, rows, withoutBic, faults.count]).toEqual(['SCT', 4, 1, 0]);
    expect([...participants]).toEqual([
      ['AAAADEFFXXX', [['2019-01-07', null]]],
      ['AAAADEF1ABC', [['2019-01-07', '2027-01-04']]],
      ['AAAAATWWXXX', [[null, null]]],
    ]);
  });

  it('has all participations of one BIC, the first one first', async () => {
    const rows = [
      ['2024-01-08', ''],
      ['2018-01-08', '2020-01-06'],
      ['', '2017-01-02'],
    ];
    const { participants } = await read(
      tRegisterText(rows.map(([since, until]) => tParticipant('AAAADEFF', since, until))),
    );
    expect(participants.get('AAAADEFFXXX')).toEqual([
      [null, '2017-01-02'],
      ['2018-01-08', '2020-01-06'],
      ['2024-01-08', null],
    ]);
  });

  it.each([
    ['commas and line breaks in its cells', tParticipant('AAAADEFF', '', '', 'Bank, Second\r\nLine')],
    ['doubled quotation marks in its cells', tParticipant('AAAADEFF', '', '', 'The ""Old"" Bank')],
    ['letters of other alphabets', tParticipant('AAAADEFF', '', '', 'Köln Málaga')],
  ])('may have %s', async (_, row) => {
    const { participants, faults } = await read(tRegisterText([row, tParticipant('AAAAATWW')]));
    expect([[...participants.keys()], faults.count]).toEqual([['AAAADEFFXXX', 'AAAAATWWXXX'], 0]);
  });

  it.each([
    ['with a byte order mark', (text: string) => iconv.encode(text, 'utf-8', { addBOM: true })],
    ['in UTF-16', (text: string) => iconv.encode(text, 'utf-16', { addBOM: true })],
    ['with other line ends', (text: string) => text.replaceAll('\r\n', '\n')],
    ['without quotation marks', (text: string) => text.replaceAll('"', '').replaceAll('Street,', 'Street')],
    ['with another order of its columns, and new ones', (text: string) => text.replace(/^(.*)$/gm, '"x",$1')],
    ['with other capitals in its titles', (text: string) => text.replace('Readiness Date', 'READINESSDATE')],
  ])('is read %s', async (_, change) => {
    const { participants } = await read(change(tRegisterText([tParticipant('AAAADEFF')]).trimEnd()));
    expect([...participants]).toEqual([['AAAADEFFXXX', [['2019-01-07', null]]]]);
  });

  it.each([
    ['a wrong BIC', tParticipant('AAAADEF'), 'the BIC is "AAAADEF"; it must have 8 or 11 letters and digits, with'],
    [
      'a wrong date',
      tParticipant('AAAADEFF', '7.1.2019'),
      'a date is "7.1.2019"; it must be one such as 2026-11-21, or empty',
    ],
    ['a day that does not exist', tParticipant('AAAADEFF', '', '2026-02-30'), 'a date is "2026-02-30"'],
    ['too few columns', ['GERMANY', 'Bank'], '2 columns; a row of this file has 8'],
  ])('is imported without a row with %s', async (_, row, problem) => {
    const { participants, faults } = await read(tRegisterText([...others, row]));
    expect(participants.size).toBe(others.length);
    expect(faults.first).toEqual([expect.stringContaining(`line 202, left out: ${problem}`)]);
    await expect(read(tRegisterText([row, row, row]))).rejects.toThrow('has errors in 3 of 3 rows');
  });

  it.each([
    [
      'without one of its columns',
      tRegisterText([], ['Country', 'ParticipantName', 'BIC', 'Readiness Date']),
      /lacks the columns Scheme Leaving Date;/,
    ],
    [
      'with semicolons',
      tRegisterText([tParticipant('AAAADEFF')]).replaceAll(',', ';'),
      /is not a register of participants/,
    ],
    [
      'of another kind',
      'Bank;BIC\nx;y\n',
      /is not a register of participants in a SEPA scheme \(EPC\): its first line/,
    ],
    ['without a participant', tRegisterText([]), /contains no participant/],
    [
      'that was cut off',
      tRegisterText([...others, ['GERMANY', 'Ba']]).slice(0, -2),
      /ends within line 202; download it again/,
    ],
    [
      'that was cut off within a cell',
      tRegisterText(others).slice(0, -30),
      /a quotation mark is opened and never closed/,
    ],
    [
      'in another encoding',
      iconv.encode(tRegisterText([tParticipant('AAAADEFF', '', '', 'Überbank')]), 'latin1'),
      /bytes that are not utf-8/,
    ],
    ['in a workbook', Buffer.from('PK\u0003\u0004xxxxxxxx'), /is a workbook or an archive/],
    ['without content', '', /is empty/],
  ])('is refused %s', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});

it.each([
  ['sct.csv', 'SCT'],
  ['SCT_INST.csv', 'SCT_INST'],
  ['sct_inst (1).csv', 'SCT_INST'],
  ['sct-inst-2026-11-26.csv', 'SCT_INST'],
  ['sdd_core.csv', 'SDD_CORE'],
  ['sdd_b2b.csv', 'SDD_B2B'],
  ['sdd_b2b_20261126.csv', 'SDD_B2B'],
  ['vop.csv', 'VOP'],
  ['sepa_credit_transfer.csv', 'SCT'],
  ['sepa_instant_credit_transfer.csv', 'SCT_INST'],
  ['sdd.csv', null],
  ['sct_other.csv', null],
  ['register.csv', null],
  ['2026.csv', null],
])('the file %s is a register of %s by its name', async (name, scheme) => {
  const path = join(tFolder(), name);
  writeFileSync(path, tRegisterText([tParticipant('AAAADEFF', '2019-01-07')]));
  const read = readRegisterFile({ path });
  if (scheme === null) await expect(read).rejects.toThrow('does not say of which scheme it is');
  else expect(await read).toMatchObject({ scheme });
});
