import { describe, expect, it } from 'vitest';
import type { BankDataPort, BicValidation, IbanValidation } from '../../src/bank-data/bank-data.ts';
import { withPrecheck } from '../../src/bank-data/precheck.ts';
import { tCaller } from '../request-context.ts';

/** Answers every question, and records it. */
function tBankData() {
  const asked: string[][] = [];
  const answer = <Key extends string>(name: Key, keys: readonly string[]) => {
    asked.push([...keys]);
    return keys.map((key) => ({ [name]: key, valid: true }));
  };
  const port: BankDataPort = {
    validateIbans: async (ibans) => answer('iban', ibans) as unknown as IbanValidation[],
    validateBics: async (bics) => answer('bic', bics) as unknown as BicValidation[],
    generateIban: async ({ country }) => {
      asked.push([country]);
      return { kind: 'invalid', message: 'from the service', faults: [] };
    },
    listBanks: async () => ({ banks: [], next: null, total: 0 }),
  };
  return { bankData: withPrecheck(port), asked };
}

describe('prechecked', () => {
  it('asks for the possible IBANs only, and answers all in the order asked', async () => {
    const { bankData, asked } = tBankData();
    const ibans = ['ZZ', 'DE89370400440532013000', 'DE89370400440532013001', 'GB29NWBK60161331926819', ''];
    const answers = (await bankData.validateIbans(ibans, tCaller())) as IbanValidation[];
    expect(answers.map(({ iban }) => iban)).toEqual(ibans);
    expect(answers.map(({ valid }) => valid)).toEqual([false, true, false, true, false]);
    expect(asked).toEqual([['DE89370400440532013000', 'GB29NWBK60161331926819']]);
  });

  it('asks nobody where nothing is possible', async () => {
    const { bankData, asked } = tBankData();
    await bankData.validateIbans(['ZZ'], tCaller());
    await bankData.validateBics(['TOO-SHORT'], tCaller());
    expect(asked).toEqual([]);
  });

  it('takes an IBAN apart of which only the check digits are wrong', async () => {
    const { bankData } = tBankData();
    const [answer] = await bankData.validateIbans(['FR1520041010050500013M02606'], tCaller());
    expect(answer).toEqual({
      iban: 'FR1520041010050500013M02606',
      valid: false,
      problems: ['WRONG_CHECK_DIGITS'],
      bankData: null,
      countryIbanExample: 'FR1420041010050500013M02606',
      ibanData: {
        country: 'France',
        countryCode: 'FR',
        sepaCountry: true,
        checksum: '15',
        bban: '20041010050500013M02606',
        bankCode: '20041',
        accountNumber: '0500013M02606',
        branch: '01005',
        nationalChecksum: '06',
        countryIbanFormatAsSwift: 'FR2!n5!n5!n11!c2!n',
        countryIbanFormatAsRegex: '^FR(\\d{2})(\\d{5})(\\d{5})([A-Za-z0-9]{11})(\\d{2})$',
      },
    });
  });

  it('asks for possible BICs only', async () => {
    const { bankData, asked } = tBankData();
    const answers = await bankData.validateBics(['COBADEFF', 'COBAQQFF'], tCaller());
    expect(answers).toEqual([
      { bic: 'COBADEFF', valid: true },
      { bic: 'COBAQQFF', valid: false, problems: ['UNKNOWN_COUNTRY'], bank: null },
    ]);
    expect(asked).toEqual([['COBADEFF']]);
  });

  it('asks for an IBAN only of fields that can make one', async () => {
    const { bankData, asked } = tBankData();
    const refused = await bankData.generateIban({ country: 'DE', bankCode: '1', accountNumber: '1' }, tCaller());
    expect(refused).toMatchObject({ kind: 'invalid', faults: [{ field: 'bankCode' }] });
    expect(asked).toEqual([]);
    const source = { country: 'DE', bankCode: '37040044', accountNumber: '532013000' };
    expect(await bankData.generateIban(source, tCaller())).toMatchObject({ message: 'from the service' });
    expect(asked).toEqual([['DE']]);
  });
});
