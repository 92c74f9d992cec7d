import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBankLists } from '../../../src/banks/bank-lists.ts';
import { createKnownBanks } from '../../../src/banks/known-banks.ts';
import {
  tImport,
  tParticipant,
  tRegisterFile,
  tReplaceRegister,
  tSampleFile,
} from '../../support/banks/import/imports.ts';
import { tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';

/** The schemes in which this bank takes part by the imports of a data folder; null without an import. */
async function takesPart(dataDir: string, bic = 'AAAADEFF'): Promise<string[] | null> {
  const banks = createKnownBanks(createBankLists({ dataDir }));
  const found = banks.schemes(bic);
  await banks.close();
  return found?.filter((scheme) => scheme.takesPart).map(({ scheme }) => scheme) ?? null;
}

const listed = [tParticipant('AAAADEFF'), tParticipant('AAAADEF1ABC'), tParticipant('')];

describe('import-banks EPC', () => {
  it('imports a register by its name, and prints what it found', async () => {
    const [dataDir, folder] = [tFolder(), tFolder()];
    const path = tRegisterFile(folder, 'sct_inst.csv', listed);
    const { code, stdout, stderr } = await tImport(dataDir, 'epc', path);
    expect([code, stderr]).toEqual([0, '']);
    const [registerDate] = /\d{4}-\d\d-\d\d/.exec(stdout) ?? [];
    expect(stdout).toBe(
      [
        `Imported the participants of SCT_INST from ${path}: was 0, now 2`,
        '  read             3 rows',
        '  imported         2 participants',
        '  skipped          1 row',
        '                   1  rows without a BIC',
        '  source     European Payments Council',
        `  date       ${registerDate} (of the import: registers have no date)`,
        `  stored in  ${dataDir}`,
        'Source: European Payments Council, registers of participants (credit it when you pass the data on; do not sell them as they are).',
        '',
      ].join('\n'),
    );
    const banks = createKnownBanks(createBankLists({ dataDir }));
    expect(banks.schemes('AAAADEFF')).toEqual([
      { scheme: 'SCT_INST', takesPart: true, since: '2019-01-07', until: null, registerDate },
    ]);
    await banks.close();
  });

  it('keeps the lists of banks and their version, as answers about banks are the same', async () => {
    const dataDir = tFolder();
    await tImport(dataDir, 'LI', await tSampleFile(tFolder(), tSample('LI')), '--force');
    const lists = createBankLists({ dataDir });
    const version = lists.version();
    const countries = lists.countries();
    await lists.close();
    await tImport(dataDir, 'EPC', tRegisterFile(tFolder(), 'vop.csv', listed));
    const after = createBankLists({ dataDir });
    expect([after.version(), after.countries()]).toEqual([version, countries]);
    expect(after.registers()).toMatchObject([{ scheme: 'VOP', revision: 1 }]);
    await after.close();
  });

  it('refuses a file without the name of a scheme, and imports it with --scheme', async () => {
    const dataDir = tFolder();
    const path = tRegisterFile(tFolder(), 'participants.csv', listed);
    const { code, stderr } = await tImport(dataDir, 'EPC', path);
    expect([code, stderr]).toEqual([
      1,
      'Nothing was imported: participants.csv does not say of which scheme it is, and does not have a name that does, such as ' +
        'sct_inst.csv; import it with --scheme and one of SCT, SCT_INST, SDD_CORE, SDD_B2B, VOP.\n',
    ]);
    expect(await takesPart(dataDir)).toBeNull();
    expect((await tImport(dataDir, 'EPC', path, '--scheme', 'SDD_B2B')).code).toBe(0);
    expect(await takesPart(dataDir)).toEqual(['SDD_B2B']);
  });

  it('keeps a newer or a much larger register, unless it is forced to replace it', async () => {
    const dataDir = tFolder();
    const path = tRegisterFile(tFolder(), 'sct.csv', [tParticipant('BBBBDEFF')]);
    const names = ['AAAADEFFXXX', 'AAAAATWWXXX', 'AAAAFRPPXXX'];
    await tReplaceRegister(dataDir, 'SCT', Object.fromEntries(names.map((bic) => [bic, [[null, null]]])), '2026-11-20');
    const refused = (problem: string) => ({
      code: 1,
      stdout: '',
      stderr: `Nothing was imported: ${path} ${problem} of SCT; if it is right, add --force.\n`,
    });
    expect(await tImport(dataDir, 'EPC', path, '--date', '2026-11-19')).toEqual(
      refused('has the date 2026-11-19, and is older than the present register of 2026-11-20'),
    );
    expect(await tImport(dataDir, 'EPC', path, '--date', '2026-11-20')).toEqual(
      refused('has 1 participant, less than half of the present 3'),
    );
    expect(await takesPart(dataDir)).toEqual(['SCT']);
    const { stdout } = await tImport(dataDir, 'EPC', path, '--date', '2026-11-19', '--force');
    expect(stdout).toContain('\n  date       2026-11-19 (from --date)\n');
    expect([await takesPart(dataDir), await takesPart(dataDir, 'BBBBDEFF')]).toEqual([[], ['SCT']]);
  });

  it('restores the register before the last import with --undo, and undoes that, too', async () => {
    const dataDir = tFolder();
    const undo = () => tImport(dataDir, 'EPC', '--scheme', 'SCT', '--undo');
    expect((await undo()).stderr).toBe('Nothing was changed: no import of SCT can be undone.\n');
    await tReplaceRegister(dataDir, 'SCT', { AAAADEFFXXX: [[null, null]] });
    expect((await undo()).stdout).toBe('Restored the participants of SCT: was 1, now 0. To undo this, run it again.\n');
    expect(await takesPart(dataDir)).toBeNull();
    expect((await undo()).code).toBe(0);
    expect(await takesPart(dataDir)).toEqual(['SCT']);
  });

  it('changes nothing for a file that is not a register', async () => {
    const dataDir = tFolder();
    await tReplaceRegister(dataDir, 'SCT', { AAAADEFFXXX: [[null, null]] });
    const path = join(tFolder(), 'sct.csv');
    writeFileSync(path, 'Bank;BIC\nAAAA;BBBBDEFF\n');
    const { code, stderr } = await tImport(dataDir, 'EPC', path);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Nothing was imported: sct\.csv is not a register of /)]);
    expect(await takesPart(dataDir)).toEqual(['SCT']);
  });

  it.each([
    [['EPC'], "the file is missing; run 'ledgerquill import-banks' for a list"],
    [['EPC', '--undo'], '--undo needs --scheme with one of SCT, SCT_INST, SDD_CORE, SDD_B2B, VOP'],
    [
      ['EPC', 'a.csv', '--scheme', 'SDD'],
      "option '--scheme <scheme>' argument 'SDD' is invalid. Allowed choices are SCT,",
    ],
    [['DE', 'a.csv', '--scheme', 'SCT'], '--scheme is only for EPC'],
    [['EPC', 'a.csv', '--date', '2999-01-01'], '--date of a register must not be after today, '],
    [['GB', 'a.csv'], 'the country must be one of AT, '],
  ])('exits with 2 for wrong usage: %j', async (args, problem) => {
    const { code, stdout, stderr } = await tImport(tFolder(), ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`error: ${problem}`);
  });
});

it('import-banks lists where the registers can be downloaded', async () => {
  const { stdout } = await tImport(tFolder());
  expect(stdout).toMatch(/^EPC {2}a register of participants .*\n {4}https:\/\/\S+$/m);
});
