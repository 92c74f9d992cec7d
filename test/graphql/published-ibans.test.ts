import { describe, expect, it } from 'vitest';
import vectors from '../data/iban-vectors.json' with { type: 'json' };
import { tGateway } from '../support/gateway.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/* The published test vectors, through GraphQL and the self-hosted service. */

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

async function validate(ibans: readonly string[]): Promise<Validation[]> {
  const gateway = tGateway({ bankDataUrl: await tBankDataService() });
  const { data, errors } = await gateway.ask(validationQuery, { ibans });
  expect(errors).toBeUndefined();
  expect(gateway.log()).not.toContain(ibans[0]);
  return data?.ibanValidations as unknown as Validation[];
}

const inScope = vectors.valid.filter(({ scope }) => scope === 'registry' || scope.startsWith('territory'));
const partial = vectors.valid.filter(({ scope }) => scope.startsWith('partial'));

describe('the published IBANs', () => {
  it(`that are valid (${inScope.length}) are valid and match their country's regular expression`, async () => {
    const answers = await validate(inScope.map(({ iban }) => iban));
    expect(answers.filter(({ valid, problems }) => !valid || problems.length > 0)).toEqual([]);
    for (const { iban, ibanData } of answers)
      expect(iban).toMatch(new RegExp(ibanData?.countryIbanFormatAsRegex ?? '$^'));
    expect(answers.map(({ iban }) => iban)).toEqual(inScope.map(({ iban }) => iban));
  });

  it(`of countries outside the registry (${partial.length}) have an unknown country`, async () => {
    const answers = await validate(partial.map(({ iban }) => iban));
    expect(answers.map(({ problems }) => problems)).toEqual(partial.map(() => ['UNKNOWN_COUNTRY']));
  });

  it(`that are invalid (${vectors.invalid.length}) are invalid for at least one of the published reasons`, async () => {
    const answers = await validate(vectors.invalid.map(({ iban }) => iban));
    const surprises = vectors.invalid.flatMap(({ iban, reason }, index) => {
      const { valid, problems } = answers[index] ?? { valid: true, problems: [] };
      const isRight = !valid && problems.some((problem) => rightProblems(reason).includes(problem));
      return isRight ? [] : [{ iban, reason, valid, problems }];
    });
    // Banks have exemptions from their national check digits, so these never make an IBAN invalid.
    expect(surprises).toEqual([
      { iban: 'ES8350210036679521296135', reason: 'national_check', valid: true, problems: [] },
    ]);
  });
});

/** Our problems for the reasons of other validators, whose experimental countries are not in the registry. */
function rightProblems(reason: string): string[] {
  const names: Record<string, string> = {
    unknown_country: 'UNKNOWN_COUNTRY',
    length: 'WRONG_LENGTH',
    mod97: 'WRONG_CHECK_DIGITS',
    bban_structure: 'WRONG_STRUCTURE',
    check_digits_not_numeric: 'WRONG_STRUCTURE',
    'check_digits_out_of_range(02..98)': 'CHECK_DIGITS_OUT_OF_RANGE',
  };
  return ['UNKNOWN_COUNTRY', ...reason.split(', ').map((part) => names[part] ?? part)];
}

describe('the published parts', () => {
  const executed = vectors.parts.filter(({ source }) => source.includes('executed'));

  it(`from executed libraries (${executed.length}) are equal to ours`, async () => {
    const answers = await validate(executed.map(({ iban }) => iban));
    expect(answers.map(({ ibanData }) => withoutNationalCheckDigits(ibanData))).toEqual(
      executed.map(({ bank_code, branch, account_number, national_check }) => ({
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
});
