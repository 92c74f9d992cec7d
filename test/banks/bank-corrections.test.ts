import { describe, expect, it } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { fullBic } from '../../src/iban/bic.ts';
import { tDirectory, tEntry } from '../support/banks/import/imports.ts';

const lists = createBankLists();
const find = (country: string, bankCode: string) =>
  lists.banks(country).find((bank) => bank.bankCode === bankCode) ?? null;

describe('the shipped lists', () => {
  it.each([
    // Three of the 36 regional banks that follow the rule.
    ['FR', '18206', 'AGRIFRPP882'],
    ['FR', '14706', 'AGRIFRPP847'],
    ['FR', '13306', 'AGRIFRPP833'],
    ['FR', '10278', 'CMCIFR2A'],
    ['FR', '14690', 'CMCIFRP1'],
    ['FR', '10057', 'CMCIFRPP'],
    ['FR', '30027', 'CMCIFRPP'],
    ['FR', '30047', 'CMCIFRPP'],
    ['FR', '10096', 'CMCIFRPP'],
    ['FR', '30087', 'CMCIFRPP'],
    ['FR', '11438', 'HRFRFRP1'],
    ['FR', '13369', 'BMMMFR2A'],
    ['FR', '14940', 'CFFIFR21'],
    ['FR', '40618', 'BOUSFRPPXXX'],
    ['FR', '11315', 'CEPAFRPPXXX'],
    ['FR', '14445', 'CEPAFRPP444'],
    ['FR', '12135', 'CEPAFRPP213'],
    ['FR', '11425', 'CEPAFRPP142'],
    ['FR', '13135', 'CEPAFRPP313'],
    ['FR', '13335', 'CEPAFRPP333'],
    ['FR', '13485', 'CEPAFRPP348'],
    ['FR', '13825', 'CEPAFRPP382'],
    ['FR', '14265', 'CEPAFRPP426'],
    ['FR', '14505', 'CEPAFRPP450'],
    ['FR', '15135', 'CEPAFRPP513'],
    ['FR', '16275', 'CEPAFRPP627'],
    ['FR', '17515', 'CEPAFRPP751'],
    ['FR', '18025', 'CEPAFRPP802'],
    ['FR', '18315', 'CEPAFRPP831'],
    ['FR', '18715', 'CEPAFRPP871'],
    ['FR', '28233', 'REVOFRP2'],
    ['FR', '16958', 'QNTOFRP1XXX'],
    ['FR', '17598', 'LYDIFRP2'],
    ['FR', '20433', 'NTSBFRM1'],
    ['FR', '11899', 'CMCIFR2A'],
    ['FR', '14168', 'OFTPPFT1'],
    ['FR', '14518', 'FTNOFRP1'],
    ['FR', '15607', 'CCBPFRPPNCE'],
    ['FR', '15629', 'CMCIFR2A'],
    ['FR', '16159', 'CMCIFR2A'],
    ['FR', '16598', 'FPELFR21'],
    ['FR', '16707', 'CCBPFRPPREN'],
    ['FR', '16798', 'TRZOFR21'],
    ['FR', '17328', 'SWNBFR22'],
    ['FR', '17418', 'SNNNFR22'],
    ['FR', '17448', 'SFPEFRP2'],
    ['FR', '17469', 'SOCBPFTX'],
    ['FR', '17499', 'BCADNCNN'],
    ['FR', '18829', 'CMBRFR2BCME'],
    ['FR', '21833', 'PRNSFRP1'],
    ['FR', '21933', 'MPAYFRP1'],
    ['FR', '25733', 'PSSSFR22'],
    ['FR', '27633', 'BUNQFRP2'],
    ['FR', '30001', 'BDFEFRPPCCT'],
    ['FR', '30833', 'FNOMFRP2'],
    ['FR', '42559', 'CCOPFRPP'],
    ['FR', '10011', 'PSSTFRPPCNE'],
    ['FR', '10071', 'TRPUFRP1'],
    ['ES', '1491', 'TRIOESMM'],
    ['ES', '1563', 'NTSBESM1'],
    ['NL', 'BUUT', 'BUUTNL2A'],
    ['NL', 'MLLE', 'MLLENL2A'],
    ['NL', 'WOFT', 'WOFTNL22'],
    ['NL', 'CEPA', 'CEPANL2A'],
    ['NL', 'CLRB', 'CLRBNL2A'],
    ['BE', '903', 'TRWIBEB1'],
    ['BE', '904', 'TRWIBEBB'],
    ['BE', '603', 'SWNBBEB2'],
    ['BE', '604', 'SWNBBEB2'],
    ['BE', '115', 'PAUIBE22'],
    ['BE', '116', 'ATMNBE32'],
    ['BE', '128', 'MPSNBE92'],
    ['BE', '640', 'KREDBEBB'],
    ['BE', '679', 'GEBABEBB'],
    ['BE', '941', 'DEGRBEBB'],
    ['FR', '16989', 'MOBQFR22'],
    ['FR', '18079', 'CCDFFRPP'],
    ['FR', '12239', 'CEPAPFTP'],
    ['FR', '30568', 'CMCIFRPP'],
    ['ES', '1488', 'PICTESMM'],
    ['LU', '420', 'ABOCLULL'],
    ['AT', '14001', 'BAWAATWW'],
    ['AT', '00100', 'NABAATWW'],
    ['AT', '10000', 'OEKOATWW'],
    ['AT', '19001', 'TRBKATW2XXX'],
    ['AT', '19380', 'DENEATW1'],
    ['AT', '19390', 'BMASAT21'],
    ['AT', '19930', 'CENBATWWXXX'],
    ['AT', '19950', 'WUBUAT2S'],
    ['AT', '24012', 'BAOSATWW'],
    ['AT', '31303', 'RBSKATW1'],
    ['AT', '32367', 'RLNWATW1880'],
    ['AT', '36316', 'RZTIAT22268'],
    ['AT', '33106', 'RLBBAT2E072'],
    ['AT', '38375', 'RZSTAT2G487'],
    ['AT', '57100', 'HYPTAT22'],
    ['FR', '16218', 'BFBKFRP1'],
    ['FR', '30788', 'NSMBFRPP'],
    ['ES', '0149', 'BNPAESMS'],
    ['AT', '39500', 'RZKTAT2K491'],
    ['AT', '43510', 'ABVRATW1'],
    ['AT', '51000', 'EHBBAT2E'],
    ['AT', '52000', 'HAABAT2K'],
    ['AT', '53000', 'HYPNATWW'],
    ['AT', '54000', 'OBLAAT2L'],
    ['AT', '57000', 'HYPTAT22'],
    ['AT', '58000', 'HYPVAT2B'],
    ['AT', '76040', 'VIAUATW1'],
    ['LU', '421', 'EVERLULX'],
    ['LU', '422', 'ABOCLULB'],
    ['LU', '423', 'INVLLULL'],
  ])('have the right BIC of %s %s: %s', (country, bankCode, bic) => {
    expect(fullBic(find(country, bankCode)?.bic ?? '')).toBe(fullBic(bic));
  });

  it('have no BIC of the register for any of the 36 regional banks of Crédit Agricole', () => {
    const banks = lists.banks('FR').filter(({ bic }) => /^AGRIFRPP8/.test(bic));
    expect(banks).toHaveLength(36);
    for (const { bankCode, bic } of banks) expect(bic).toBe(`AGRIFRPP8${bankCode.slice(1, 3)}`);
    expect(lists.banks('FR').filter(({ bic }) => bic.startsWith('AGRIFRCC'))).toEqual([]);
  });

  it.each(['766', '771', '807', '816'])('have the Belgian bank code %s of AXA as merged into Crelan', (bankCode) => {
    expect(find('BE', bankCode)).toMatchObject({ bic: 'AXABBE22', isDeleted: true, successor: '700' });
    expect(find('BE', '700')?.name).toBe('Crelan');
  });

  it.each([
    ['30003', 'SOGEFRPP'],
    ['30004', 'BNPAFRPP'],
  ])('keep the BIC of the head office of %s, which another list has wrong', (bankCode, bic) => {
    expect(find('FR', bankCode)).toMatchObject({ bic: expect.stringContaining(bic), bicSource: 'CURATED' });
  });

  it('say where each BIC is from, and name the reason of a correction in the source', () => {
    expect(find('DE', '37040044')?.bicSource).toBe('NATIONAL_LIST');
    expect(find('AT', '12000')?.bicSource).toBe('NATIONAL_LIST');
    expect(find('ES', '1465')?.bicSource).toBe('REGISTER');
    expect(find('GB', 'NWBK')).toMatchObject({ bicSource: 'CURATED', source: 'list of volunteers, via schwifty' });
    expect(find('FR', '30066')?.source).toBe(
      'list of volunteers, via schwifty; BIC from payment details that account holders publish (2026-11-27)',
    );
    expect(find('FR', '16707')).toMatchObject({
      bicSource: 'CORRECTED',
      source: expect.stringContaining('newer lists'),
    });
  });
});

describe('an imported list', () => {
  it('of a register is corrected, too', async () => {
    const { findBank } = await tDirectory({
      FR: [
        tEntry('18206', { name: 'CRCAM de Paris', bic: 'AGRIFRCC892' }),
        tEntry('30003', { bic: 'SOGEFRPPXXX' }),
        tEntry('20433', { bic: 'NTSBFRM1XXX' }),
      ],
    });
    expect(findBank('FR', '20433')).toMatchObject({ bic: 'NTSBFRM1XXX', bicSource: 'REGISTER' });
    const corrected = { name: 'CRCAM de Paris', bic: 'AGRIFRPP882', bicSource: 'CORRECTED' };
    expect(findBank('FR', '18206')).toMatchObject(corrected);
    expect(findBank('FR', '30003')).toMatchObject({ bic: 'SOGEFRPPXXX', bicSource: 'REGISTER' });
    expect(findBank('FR', '28233')?.bic).toBe('REVOFRP2');
  });

  it('of a national bank that is older than our corrections is corrected', async () => {
    const { findBank } = await tDirectory({ NL: [tEntry('ABNA', { bic: 'ABNANL2A' })] });
    expect(findBank('NL', 'MLLE')).toMatchObject({ bic: 'MLLENL2A', bicSource: 'CORRECTED' });
  });

  it('of a national bank that is newer than our corrections is not corrected', async () => {
    const { findBank } = await tDirectory({ BE: [tEntry('640', { bic: 'ADIABE22' }), tEntry('641')] }, '2026-11-27');
    expect(findBank('BE', '640')).toMatchObject({ bic: 'ADIABE22', bicSource: 'NATIONAL_LIST' });
    expect(findBank('BE', '641')).toMatchObject({ bic: '', bicSource: '' });
    expect(findBank('BE', '903')).toBeNull();
  });

  it('takes a BIC that it does not have from the shipped list, with its source', async () => {
    const { findBank } = await tDirectory({ NL: [tEntry('BUUT', { name: 'BUUT' })] }, '2026-11-27');
    expect(findBank('NL', 'BUUT')).toMatchObject({ bic: 'BUUTNL2A', bicSource: 'NATIONAL_LIST' });
  });
});
