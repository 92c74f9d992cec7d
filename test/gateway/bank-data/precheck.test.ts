import { describe, expect, it } from 'vitest';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { tBankDataPort } from '../../support/gateway/graphql/scripted-services.ts';

/** Answers every look-up, and records it. */
function tBankData() {
  const lookUps: string[] = [];
  const record = async <Answer>(key: string, answer: unknown) => {
    lookUps.push(key);
    return answer as Answer;
  };
  const bankData = tBankDataPort({
    validateIban: (iban) => record(iban, { iban, valid: true }),
    validateBic: (bic) => record(bic, { bic, valid: true }),
    generateIban: ({ country }) =>
      record(country, { kind: 'invalid', message: 'from the service', problems: [], suggestions: [] }),
    listBanks: async () => ({ banks: [], next: null, total: 0 }),
  });
  return { bankData, lookUps };
}

describe('the precheck', () => {
  it.each([
    ['ZZ', false],
    ['', false],
    ['DE89370400440532013001', false],
    ['DE89370400440532013000', true],
    ['GB29NWBK60161331926819', true],
  ])('looks up an IBAN only if it is possible: %s', async (iban, isPossible) => {
    const { bankData, lookUps } = tBankData();
    expect(await bankData.validateIbans([iban], tRequestContext())).toMatchObject([{ iban, valid: isPossible }]);
    expect(lookUps).toEqual(isPossible ? [iban] : []);
  });

  it('answers in the order of a list, and looks up what is possible in one batch', async () => {
    const { bankData, lookUps } = tBankData();
    const ibans = ['ZZ', 'DE89370400440532013000', 'DE89370400440532013001', 'GB29NWBK60161331926819'];
    const validations = await bankData.validateIbans(ibans, tRequestContext());
    expect(validations).toMatchObject(ibans.map((iban, index) => ({ iban, valid: index % 2 === 1 })));
    expect(lookUps).toEqual([ibans[1], ibans[3]]);
  });

  it('describes an IBAN whose check digits alone are wrong', async () => {
    const { bankData, lookUps } = tBankData();
    const [validation] = await bankData.validateIbans(['FR1520041010050500013M02606'], tRequestContext());
    expect(validation).toEqual({
      iban: 'FR1520041010050500013M02606',
      valid: false,
      problems: ['WRONG_CHECK_DIGITS'],
      bankData: null,
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
    expect(lookUps).toEqual([]);
  });

  it.each([
    ['COBADEFF', { bic: 'COBADEFF', valid: true }],
    ['COBAQQFF', { bic: 'COBAQQFF', valid: false, problems: ['UNKNOWN_COUNTRY'], bank: null }],
    ['TOO-SHORT', { bic: 'TOO-SHORT', valid: false, problems: ['ILLEGAL_CHARACTERS'], bank: null }],
  ])('looks up a BIC only if it is possible: %s', async (bic, validation) => {
    const { bankData, lookUps } = tBankData();
    expect(await bankData.validateBics([bic], tRequestContext())).toEqual([validation]);
    expect(lookUps).toEqual(validation.valid ? [bic] : []);
  });
});
