import { describe, expect, it } from 'vitest';
import { readBicAnswer, readIbanAnswer, readServicePage } from '../../../src/gateway/bank-data/rest/wire.ts';
import { createRandom } from '../../support/random.ts';
import { seenIbanValidation } from '../../support/self-hosted.ts';

const iban = 'DE89370400440532013000';
const read = (changes: object) => readIbanAnswer({ ...seenIbanValidation, ...changes }, iban);

describe('valid', () => {
  it.each([
    [true, [true, 1, '1', 'true', 'TRUE', 'yes', ' true ']],
    [false, [false, 0, '0', 'false', 'no', 'No']],
    [undefined, [null, undefined, '', 'maybe', 2, -1, 'valid', [], [true], {}, { valid: true }, 'true false', 'N/A']],
  ])('is %s where the service says so: %j', (expected, values) => {
    for (const valid of values) {
      expect([valid, read({ valid })?.valid]).toEqual([valid, expected]);
      expect([valid, readBicAnswer({ valid, bank_data: null })?.valid]).toEqual([valid, expected]);
    }
  });

  it('is never true if the body does not say so, in 2,000 changed bodies', () => {
    const random = createRandom(5);
    const values = [null, '', 'true', 'yes', 0, [], {}, [true], { valid: true }, 'valid', 'IBAN number is valid.'];
    let refused = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const body: Record<string, unknown> = structuredClone(seenIbanValidation);
      for (let change = 0; change <= random(3); change += 1) {
        const names = Object.keys(body);
        const name = names[random(names.length - 1)] ?? 'valid';
        if (random(2) === 0) delete body[name];
        else body[random(3) === 0 ? `${name}_` : name] = values[random(values.length - 1)];
      }
      const saysSo =
        body.valid === true || (['true', 'yes'].includes(String(body.valid)) && typeof body.valid === 'string');
      const answer = readIbanAnswer(random(20) === 0 ? [body] : body, iban);
      if (answer?.valid !== true) refused += 1;
      else expect([body.valid, saysSo]).toEqual([body.valid, true]);
    }
    expect(refused).toBeGreaterThan(100);
  });
});

it.each([
  [
    iban,
    { BBAN: '370400440532013000', bank_code: 37040044, account_number: 532013000 },
    ['37040044', null, '0532013000'],
  ],
  [
    'GB33BUKB20201555555555',
    { bank_code: 'BUKB', branch: 202015, account_number: 55555555 },
    ['BUKB', '202015', '55555555'],
  ],
  [
    'ES9121000418450200051332',
    { bank_code: 2100, branch: 418, account_number: 450200051332 },
    ['2100', '0418', '450200051332'],
  ],
  [
    'HU42117730161111101800000000',
    { bank_code: 117, branch: 7301, account_number: 61111101800000000 },
    ['117', '7301', '61111101800000000'],
  ],
  ['FR1420041010050500013M02606', { bank_code: 20041, branch: 1005, account_number: 'M' }, ['20041', '01005', 'M']],
  ['NO9386011117947', { bank_code: 8601, account_number: 9 }, ['8601', null, '9']],
])('codes of %s that are numbers keep their zeros: %j', (iban, changes, [bankCode, branch, accountNumber]) => {
  const { ibanData } = readIbanAnswer({ valid: true, iban_data: { country: 'A', ...changes } }, iban) ?? {};
  expect(ibanData).toMatchObject({ bankCode, branch, accountNumber });
});

const other = seenIbanValidation.iban_data;
const own = { BBAN: 'NWBK60161331926819', bank_code: 'NWBK', branch: '601613', account_number: '31926819' };

it.each([
  ['of another country', other],
  ['of the same bank', { ...own, BBAN: 'NWBK60161331926818', account_number: '31926818' }],
  ['without a BBAN', { bank_code: 'BUKB', branch: '201555', account_number: '55555555' }],
  ['with the check digits of another', { ...own, country: 'United Kingdom', checksum: '33' }],
])('the parts of an IBAN are its own if the answer has those of another account: %s', (_, parts) => {
  const bank = { name: 'Commerzbank', bank_code: '37040044' };
  const body = { valid: true, iban: 'GB29NWBK60161331926819', iban_data: parts, bank_data: bank };
  const answer = readIbanAnswer(body, 'GB29NWBK60161331926819');
  expect(answer?.ibanData).toMatchObject({
    ...{ country: 'United Kingdom', checksum: '29', bban: own.BBAN },
    ...{ bankCode: own.bank_code, branch: own.branch, accountNumber: own.account_number },
  });
  // Its bank is that of the other account, unless it has the code of this one's.
  if (!('checksum' in parts) || parts.checksum !== '33') expect(answer?.bankData).toBeNull();
  const ownBank = { ...body, bank_data: { ...bank, bank_code: 'NWBK' } };
  expect(readIbanAnswer(ownBank, body.iban)?.bankData).toMatchObject({ name: 'Commerzbank' });
});

it.each(['N/A', 'n/a', 'n.a.', '-', '--', ' - ', 'null', 'NULL', 'undefined', '', ' '])(
  '%j is read as absent',
  (text) => {
    const answer = read({
      iban_data: { ...seenIbanValidation.iban_data, branch: text },
      bank_data: { bank_code: '37040044', name: text, zip: text, city: 'None', bic: text },
    });
    expect(answer?.ibanData?.branch).toBeNull();
    expect(answer?.bankData).toEqual({
      ...{ bankCode: '37040044', countryCode: 'DE', name: null, address: null, zip: null, city: 'None', bic: null },
      ...{ bicSource: null, status: null, successor: null, source: null, date: null },
    });
  },
);

it.each<[object, boolean]>([
  [{ message: 'The IBAN is not valid.' }, true],
  [{ message: 'Invalid checksum', code: 1001, errors: ['The bank code does not exist.'] }, true],
  [{ status: 200, code: 0 }, true],
  [{ message: 'Monthly quota exceeded' }, false],
  [{ error: { code: 'invalid_api_key' } }, false],
  [{ errors: ['Something went wrong.'] }, false],
  [{ status: 429 }, false],
  [{ code: '503' }, false],
])('that an IBAN or BIC is not valid is an answer with %j: %s', (fields, isAnswer) => {
  const body = { valid: false, ...fields };
  expect(readIbanAnswer(body, iban)?.problems).toEqual(isAnswer ? ['REJECTED_BY_SERVICE'] : undefined);
  expect(readBicAnswer(body)).toEqual(isAnswer ? { valid: false, bank: null } : null);
  expect(readServicePage({ data: [], ...fields })?.banks).toEqual(isAnswer ? [] : undefined);
  // What it says to be valid was looked up.
  expect(read(fields)?.valid).toBe(true);
  expect(readServicePage({ data: [{ swift_data: { name: 'A bank' } }], ...fields })?.banks).toHaveLength(1);
});

it('a bank has the code of its IBAN, also if both are numbers', () => {
  const wire = { valid: true, iban_data: { bank_code: 800 }, bank_data: { bank_code: 800, name: 'Česká spořitelna' } };
  const { ibanData, bankData } = readIbanAnswer(wire, 'CZ6508000000192000145399') ?? {};
  expect([ibanData?.bankCode, bankData?.bankCode]).toEqual(['0800', '0800']);
});

it('a bank of which only the code is known is none', () => {
  const bankCode = { bank_code: '37040044' };
  for (const more of [{}, { name: null, zip: '', city: 'N/A', bic: '-' }, { iban: 'x' }]) {
    const answer = read({ bank_data: { ...bankCode, ...more } });
    expect(answer?.bankData).toBeNull();
    expect(answer?.ibanData?.bankCode).toBe('37040044');
  }
  expect(read({ bank_data: { ...bankCode, bic: 'COBADEFFXXX' } })?.bankData).toMatchObject({
    bankCode: '37040044',
    name: null,
  });
  expect(read({ bank_data: { name: 'Commerzbank' } })?.bankData).toMatchObject({ bankCode: null, name: 'Commerzbank' });
});

it('a list has at most ten times as many items as a page', () => {
  const list = (length: number) => ({ data: Array.from({ length }, () => ({ swift_data: { name: 'A bank' } })) });
  expect(readServicePage(list(1_000))?.banks).toHaveLength(1_000);
  expect(readServicePage(list(1_001))).toBeNull();
});

it.each([
  {},
  { iban_data: null, bank_data: null },
  { iban_data: {}, bank_data: [] },
  { iban_data: '', bank_data: 'none' },
  { iban_data: { country: '', BBAN: '' }, bank_data: { name: '', bic: null } },
  { quota: { left: 3 }, iban_data: { moon: 'full' } },
])('details such as %j are absent', (details) => {
  expect(readIbanAnswer({ valid: true, ...details }, iban)).toMatchObject({
    valid: true,
    ibanData: null,
    bankData: null,
  });
});

it.each([undefined, null, '', 'deleted', 'national_list', 7, {}])(
  'a bank has no status or source of its BIC if it is %j',
  (value) => {
    const bank_data = { name: 'Bank', bic: 'COBADEFFXXX', status: value, successor: '0182', bic_source: value };
    expect(read({ bank_data })?.bankData).toMatchObject({ status: null, successor: null, bicSource: null });
  },
);
