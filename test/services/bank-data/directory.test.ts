import { describe, expect, it } from 'vitest';
import { createBankDirectory } from '../../../src/services/bank-data/directory.ts';

const { findBank } = createBankDirectory();

describe('findBank', () => {
  it('knows name and BIC of German banks', () => {
    expect(findBank('DE', '37040044')).toEqual({
      bankCode: '37040044',
      name: 'Commerzbank',
      zip: '',
      city: '',
      bic: 'COBADEFFXXX',
    });
  });

  it.each([
    ['AT', '12000', 'BKAUATWWXXX'],
    ['BE', '103', 'NICABEBB'],
    ['ES', '1465', 'INGDESMM'],
    ['FR', '10107', 'BREDFRPPXXX'],
    ['LU', '111', 'CCPLLULL'],
    ['NL', 'ABNA', 'ABNANL2A'],
  ])('knows the BICs of banks of %s', (country, bankCode, bic) => {
    expect(findBank(country, bankCode)).toEqual({ bankCode, name: '', zip: '', city: '', bic });
  });

  it.each([
    ['a bank code that is not listed', 'DE', '00000000'],
    ['a country without a list', 'GB', 'NWBK'],
    ["a territory, in its parent's list", 'MQ', '10107'],
    ['a bank code of another country', 'AT', '37040044'],
    ['the bank code of another country with the same length', 'LU', '103'],
    ['a country that is none', '__proto__', 'constructor'],
    ['a bank code that is none', 'NL', 'constructor'],
    ['nothing', '', ''],
  ])('knows nothing of %s', (_, country, bankCode) => {
    expect(findBank(country, bankCode)).toBeNull();
  });
});
