import { expect, it } from 'vitest';
import { createBankLists } from '../../src/bank-lists/bank-lists.ts';
import { buildIban, ibanFields } from '../../src/iban/build-iban.ts';
import { createRandom } from '../support/e2e/random.ts';
import { tGateway } from '../support/gateway.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/* The gateway answers with the record of the list, for bank codes from all over it. */

const lists = createBankLists();
const banksPerCountry = 50;

it.each(lists.countries())('answers random bank codes of %s as the list has them', async (country) => {
  const random = createRandom(46);
  const all = lists.banks(country);
  const banks = Array.from({ length: banksPerCountry }, () => all[random(all.length - 1)]);
  const ibans = banks.map((bank) => ibanOf(country, bank?.bankCode ?? ''));
  const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
  const query = `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid
    bankData { bankCode name zip city bic bicSource source date } } }`;
  const { data } = await ask(query, { ibans });
  const expected = banks.map((bank, index) => {
    const { bankCode, name, bic, bicSource, source, date } = bank ?? {};
    const orNull = (text?: string) => text || null;
    const bankData = { bankCode, name: orNull(name), zip: null, city: null, bic: orNull(bic), source, date };
    return { iban: ibans[index], valid: true, bankData: { ...bankData, bicSource: orNull(bicSource) } };
  });
  expect(data?.ibanValidations).toEqual(expected);
});

/** A valid IBAN with this bank code; its other digits are zeros. */
function ibanOf(country: string, bankCode: string): string {
  const zeros = (name: string) => '0'.repeat(ibanFields(country).find((field) => field.name === name)?.length ?? 0);
  const built = buildIban({ country, bankCode, branch: zeros('branch'), accountNumber: zeros('accountNumber') });
  if (built.kind === 'invalid') throw new Error(built.problems.map(({ message }) => message).join(' '));
  return built.iban;
}
