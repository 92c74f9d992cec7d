import { buildIban } from '../src/iban/build-iban.ts';

/** Behaviors of the scripted upstream, selected by the bank code of an IBAN. */
const bankCodes = {
  answer: '10000000',
  /** Answers after 200 ms. */
  delay: '20000000',
  /** Answers with status 500. */
  fail: '30000000',
  /** Never answers. */
  hang: '40000000',
  /** Closes the connection in the middle of its answer. */
  truncate: '50000000',
  /** Closes the connection without an answer. */
  reset: '60000000',
  /** Answers with one bank for all IBANs, as a real service does. */
  share: '70000000',
};

export type Behavior = keyof typeof bankCodes;

const behaviors = new Map(Object.entries(bankCodes).map(([behavior, bankCode]) => [bankCode, behavior as Behavior]));

/** A unique valid IBAN for every number of up to ten digits. */
export function scriptedIban(behavior: Behavior, number: number): string {
  const generated = buildIban({ country: 'DE', bankCode: bankCodes[behavior], accountNumber: String(number) });
  if (generated.kind === 'invalid') throw new Error(generated.problems.map(({ message }) => message).join(' '));
  return generated.iban;
}

export function readIbanBehavior(iban: string): Behavior {
  return behaviors.get(iban.slice(4, 12)) ?? 'answer';
}

/** Unique per IBAN, so that mixed-up answers are detected, unless the behavior is `share`. */
export function scriptedBankName(iban: string): string {
  return readIbanBehavior(iban) === 'share' ? 'The bank' : `Bank of ${iban.slice(4)}`;
}

/** The behavior of the scripted essay service is the first word of the description. */
export function readDescriptionBehavior(description: string): Behavior {
  const [word = ''] = description.split(' ', 1);
  return word in bankCodes ? (word as Behavior) : 'answer';
}

/** The answer to a valid IBAN, with the fields of the hosted service. */
export function describeIban(iban: string): object {
  return {
    valid: true,
    iban,
    iban_data: {
      country: 'Germany',
      country_code: 'DE',
      sepa_country: true,
      checksum: iban.slice(2, 4),
      BBAN: iban.slice(4),
      bank_code: iban.slice(4, 12),
      account_number: iban.slice(12),
      branch: '',
      national_checksum: '',
      country_iban_format_as_swift: 'DE2!n8!n10!n',
      country_iban_format_as_regex: '^DE(\\d{2})(\\d{8})(\\d{10})$',
    },
    bank_data: { bank_code: iban.slice(4, 12), name: scriptedBankName(iban), zip: '', city: '', bic: '' },
    country_iban_example: 'DE89370400440532013000',
  };
}
