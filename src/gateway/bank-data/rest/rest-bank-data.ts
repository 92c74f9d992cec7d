import { findBicProblems } from '../../../iban/bic.ts';
import type { IbanFieldValues } from '../../../iban/build-iban.ts';
import { compactIban, isValidIban } from '../../../iban/iban.ts';
import type { UpstreamClient } from '../../upstream/upstream-client.ts';
import type { UpstreamErrorEvents } from '../../upstream/upstream-error.ts';
import type { BankDataPort, BicValidation, IbanGeneration, IbanValidation } from '../bank-data.ts';
import type { DataVersion } from '../data-version.ts';
import { requestBankPage } from './bank-list.ts';
import { createCallEndpoint, type Endpoint } from './call-endpoint.ts';
import {
  isAboutBic,
  isAboutIban,
  orRejected,
  readBicAnswer,
  readIban,
  readIbanAnswer,
  toRejectedIban,
} from './wire.ts';

/** The bank-data service over REST. It has no batches: one call per IBAN or BIC. */
export function createRestBankData(
  client: UpstreamClient,
  events: UpstreamErrorEvents,
  dataVersion: Pick<DataVersion, 'report'>,
): BankDataPort {
  const callEndpoint = createCallEndpoint(client, events, dataVersion);
  return {
    validateIban: (iban, context) =>
      callEndpoint(ibanValidation, { input: iban, query: { iban_number: iban } }, context),
    validateBic: (bic, context) => callEndpoint(bicValidation, { input: bic, query: { swift_code: bic } }, context),
    generateIban: (values, context) =>
      callEndpoint(ibanGeneration, { input: values.country, query: toGenerationQuery(values) }, context),
    listBanks: (listing, context) => requestBankPage(callEndpoint, listing, context),
  };
}

/** The contract does not say whether an invalid IBAN gets 200 or 422, so both are accepted. */
const ibanValidation: Endpoint<string, IbanValidation> = {
  path: '/bank_data/iban_validate',
  isAbout: isAboutIban,
  read: readIbanAnswer,
  answer422: toRejectedIban,
};

const bicValidation: Endpoint<string, BicValidation> = {
  path: '/bank_data/swift_check',
  isAbout: isAboutBic,
  read(body, bic) {
    const answer = readBicAnswer(body);
    return answer && toBicValidation(bic, answer);
  },
  answer422: (bic) => toBicValidation(bic, { valid: false, bank: null }),
  isOptional: true,
};

function toBicValidation(bic: string, { valid, bank }: Pick<BicValidation, 'valid' | 'bank'>): BicValidation {
  return { bic, valid, problems: valid ? [] : orRejected(findBicProblems(bic)), bank };
}

/** Its input is the country. An invalid IBAN, one of another country, or none is unreadable if it is reported as valid. */
const ibanGeneration: Endpoint<string, IbanGeneration> = {
  path: '/bank_data/iban_generate',
  read(body, country) {
    const iban = compactIban(readIban(body) ?? '');
    const answer = readIbanAnswer(body, iban);
    if (answer === null) return null;
    if (!answer.valid) return invalidFields;
    if (!isValidIban(iban) || !iban.startsWith(country)) return null;
    return { kind: 'iban', validation: answer };
  },
  answer422: () => invalidFields,
  isOptional: true,
};

function toGenerationQuery({ country, bankCode, branch, accountNumber }: IbanFieldValues): Record<string, string> {
  const query = { country, bank_code: bankCode, branch, account_number: accountNumber };
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

const invalidFields: IbanGeneration = {
  kind: 'invalid',
  message:
    'The bank-data service cannot generate an IBAN from these fields. Check the bank code and the account number.',
  problems: [],
  suggestions: [],
};
