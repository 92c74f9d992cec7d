import { describe, expect, it } from 'vitest';
import { createBankDataService } from '../../src/bank-data-service/create-bank-data-service.ts';
import { compactIban } from '../../src/iban/iban.ts';
import { countryFormats, findCountryFormat } from '../../src/iban/registry.ts';
import { seenIbanValidation } from '../support/self-hosted.ts';

const app = createBankDataService({ apiKey: 'right-key' });

async function validate(ibanNumber: string) {
  const query = new URLSearchParams({ iban_number: ibanNumber });
  const answer = await app.inject({ url: `/bank_data/iban_validate?${query}`, headers: { apikey: 'right-key' } });
  return { status: answer.statusCode, body: answer.json() };
}

describe('a valid IBAN', () => {
  it('has the same answer as of the hosted service, but for the address of the bank, and with the source of the record', async () => {
    const { status, body } = await validate('DE89370400440532013000');
    expect(status).toBe(200);
    const origin = { bic_source: 'NATIONAL_LIST', source: 'Deutsche Bundesbank, via bankdata-germany' };
    const state = { status: 'LISTED', successor: '' };
    const bank_data = {
      ...seenIbanValidation.bank_data,
      zip: '',
      city: '',
      ...origin,
      ...state,
      date: body.bank_data.date,
    };
    expect(body.bank_data.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(body).toEqual({ ...seenIbanValidation, bank_data });
  });

  it.each(['de89 3704 0044 0532 0130 00', 'DE89-3704-0044-0532-0130-00', ' DE89370400440532013000\n'])(
    'is normalized: "%s"',
    async (spelling) => {
      expect(await validate(spelling)).toEqual(await validate('DE89370400440532013000'));
    },
  );

  it.each(countryFormats())('is the published example of $country', async ({ country, example, sepa }) => {
    const { status, body } = await validate(example);
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: true, iban: example, country_iban_example: example });
    expect(body.iban_data).toMatchObject({ country_code: country, sepa_country: sepa });
    if (country === 'GI') expect(sepa).toBe(true);
    expect(body.iban_data.country).toMatch(country === 'XK' ? /^Kosovo$/ : /^.{4,}$/);
    expect(body.bank_data.bank_code).toBe(body.iban_data.bank_code);
  });

  it.each([
    ['national check digits after the account', 'FR1420041010050500013M02606', '01005', '0500013M02606', '06'],
    ['national check digits before the account', 'ES9121000418450200051332', '0418', '450200051332', '45'],
    ['national check digits before the bank code', 'IT60X0542811101000000123456', '11101', '000000123456', 'X'],
    ['national check digits in the bank code', 'PL61109010140000071219812874', '', '0000071219812874', '4'],
    ['national check digits and no others', 'AL47212110090000000235698741', '1100', '90000000235698741', '9'],
    ['type and holder of the account', 'BR1800360305000010009795493C1', '00001', '0009795493C1', ''],
  ])('has the rest of the BBAN as account number: %s', async (_, iban, branch, account, check) => {
    const { body } = await validate(iban);
    expect(body.iban_data).toMatchObject({ branch, account_number: account, national_checksum: check });
  });

  it('of a territory returns the format and the example of the territory', async () => {
    const { body } = await validate('MQ5120041010050500013M02606');
    expect(body.country_iban_example).toBe('MQ5120041010050500013M02606');
    const format = { country_iban_format_as_swift: 'MQ2!n5!n5!n11!c2!n' };
    expect(body.iban_data).toMatchObject({ country: 'Martinique', country_code: 'MQ', ...format });
  });

  it.each(countryFormats().flatMap(({ territories }) => territories))('of %s has a country name', async (code) => {
    const example = findCountryFormat(code)?.example ?? '';
    expect((await validate(example)).body.iban_data.country).toMatch(/^.{4,}$/);
  });
});

describe('a well-formed IBAN with wrong check digits', () => {
  it('returns its parts, as not valid', async () => {
    const right = await validate('DE89370400440532013000');
    const wrong = await validate('DE88370400440532013000');
    expect(wrong.status).toBe(200);
    expect(wrong.body).toEqual({
      ...right.body,
      valid: false,
      message: 'IBAN number is not valid. The check digits do not match the rest of the IBAN.',
      iban: 'DE88370400440532013000',
      iban_data: { ...right.body.iban_data, checksum: '88' },
    });
  });

  it('may have check digits that are never issued', async () => {
    const message = 'IBAN number is not valid. The check digits of an IBAN are between 02 and 98; these are not.';
    const { status, body } = await validate('GB01MIDL07009312345678');
    expect([status, body]).toEqual([200, expect.objectContaining({ valid: false, message })]);
  });
});

describe('an impossible IBAN', () => {
  const german = 'iban_number=DE89370400440532013000';

  it.each([
    ['DE89.370400440532013000', 'An IBAN consists of the letters A to Z and the digits 0 to 9 only.'],
    ['US89370400440532013000', 'An IBAN starts with the code of a country that has IBANs; this one does not.'],
    ['DE8937040044053201300', 'An IBAN of DE has 22 characters; this one has 21.'],
    [
      'DEXX370400440532013000',
      'An IBAN of DE has the format DE2!n8!n10!n (n: digits, a: letters, c: either); this one does not.',
    ],
    ['', 'iban_number is missing.'],
    [' \t', 'iban_number is missing.'],
  ])('is rejected: %j', async (iban, ...messages) => {
    const { status, body } = await validate(iban);
    expect(status).toBe(422);
    expect(body).toEqual({ message: messages.join(' '), errors: { iban_number: messages } });
    if (iban.trim()) expect(JSON.stringify(body)).not.toContain(compactIban(iban));
  });

  it.each([
    ['missing', '', 'iban_number is missing.'],
    ['under another name', '?iban=DE89370400440532013000', 'iban_number is missing.'],
    ['of an invalid percent-encoding', '?iban_number=%zz', expect.any(String)],
    ['repeated', `?${german}&${german}`, 'iban_number must be given only once.'],
  ])('is rejected if the parameter is %s', async (_, query, message) => {
    const answer = await app.inject({ url: `/bank_data/iban_validate${query}`, headers: { apikey: 'right-key' } });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({ message, errors: { iban_number: [message] } });
  });
});
