import { expect, it } from 'vitest';
import vectors from '../../data/iban-vectors.json' with { type: 'json' };
import { tGateway } from '../../support/gateway.ts';
import { tBankDataService } from '../../support/self-hosted.ts';

/* Through GraphQL and the self-hosted service. Which IBANs are valid is in test/iban/iban.test.ts. */

const validationQuery = `query ($ibans: [String!]!) {
  ibanValidations(ibans: $ibans) {
    iban valid problems
    ibanData { bban bankCode branch accountNumber nationalChecksum countryIbanFormatAsRegex }
  }
}`;

interface Validation {
  iban: string;
  valid: boolean;
  problems: string[];
  ibanData: Record<string, string | null> | null;
}

const executed = vectors.parts.filter(({ source }) => source.includes('executed'));

it(`the published parts from executed libraries (${executed.length}) are equal to ours`, async () => {
  const gateway = tGateway({ bankDataUrl: await tBankDataService() });
  const { data, errors } = await gateway.ask(validationQuery, { ibans: executed.map(({ iban }) => iban) });
  expect(errors).toBeUndefined();
  expect(gateway.log()).not.toContain(executed[0]?.iban);
  const answers = data?.ibanValidations as unknown as Validation[];
  expect(answers.filter(({ valid, problems }) => !valid || problems.length > 0)).toEqual([]);
  for (const { iban, ibanData } of answers)
    expect(iban).toMatch(new RegExp(ibanData?.countryIbanFormatAsRegex ?? '$^'));
  expect(answers.map(({ iban, ibanData }) => ({ iban, ...withoutNationalCheckDigits(ibanData) }))).toEqual(
    executed.map(({ iban, bank_code, branch, account_number, national_check }) => ({
      iban,
      bankCode: bank_code,
      branch: branch || null,
      accountNumber: account_number,
      nationalChecksum: national_check || null,
    })),
  );
});

/** Our account number includes national check digits, and BR's account type and holder; the libraries' does not. */
function withoutNationalCheckDigits(data: Validation['ibanData']) {
  const { bban = '', bankCode, branch, accountNumber, nationalChecksum } = data ?? {};
  expect(bban?.endsWith(accountNumber ?? '?')).toBe(true);
  const own = accountNumber?.replace(new RegExp(`${nationalChecksum ?? ''}$`), '');
  const isBrazil = bban?.length === 25 && /[A-Z]/.test(bban.slice(-2));
  return { bankCode, branch, accountNumber: isBrazil ? own?.slice(0, 10) : own, nationalChecksum };
}
