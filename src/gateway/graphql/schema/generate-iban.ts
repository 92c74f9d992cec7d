import type { IbanRuleState } from '../../../iban/build-iban.ts';
import { compactIban } from '../../../iban/iban.ts';
import type { IbanFieldProblem } from '../../../iban/iban-fields.ts';
import type { IbanGeneration } from '../../bank-data/bank-data.ts';
import { builder, IbanType, UserErrorType } from './builder.ts';
import { lookUpCost, nullOnlyWithError, paid, personalData } from './directives.ts';
import { bankDataScope, limitText, maxLengths, requireText } from './field-checks.ts';
import { IbanValidationType } from './iban.ts';

const InvalidIbanFieldReasonType = builder.enumType('InvalidIbanFieldReason', {
  description: 'Why an input field for an IBAN is invalid.',
  values: {
    REQUIRED: { description: 'It is missing.' },
    WRONG_LENGTH: { description: 'It has too few or too many characters.' },
    WRONG_CHARACTERS: {
      description: 'It has a letter where a digit is required, or the reverse, or other characters.',
    },
    WRONG_CHECK_DIGITS: { description: 'Its national check digits do not match.' },
    NO_IBAN: { description: 'By the IBAN rule of the German bank, the account has no IBAN.' },
    RULE_NOT_IMPLEMENTED: {
      description: 'The IBAN rule of the German bank is not implemented: ask the bank for the IBAN.',
    },
    NOT_IN_COUNTRY: { description: 'IBANs of the country have no such part.' },
    UNKNOWN_COUNTRY: { description: 'The country has no IBANs.' },
    NOT_REGISTERED: { description: 'The country uses numbers like IBANs, but is not in the SWIFT registry.' },
    TERRITORY: { description: 'Banks of the territory use IBANs of its parent country; see suggestions.' },
  } satisfies Record<IbanFieldProblem['reason'], { description: string }>,
});

const InvalidIbanFieldType = builder.objectRef<IbanFieldProblem>('InvalidIbanField').implement({
  description: 'A problem with an input field.',
  fields: (t) => ({
    name: t.exposeString('field', { description: 'Field of GenerateIbanInput.' }),
    reason: t.expose('reason', { type: InvalidIbanFieldReasonType, description: 'What is wrong, for programs.' }),
    min: t.int({
      nullable: true,
      description: 'The fewest characters of a valid value; null if the country has no such field.',
      resolve: ({ length }) => length?.min,
    }),
    max: t.int({
      nullable: true,
      description:
        'The most characters of a valid value, an account number without bank code and branch in front; null if the country has ' +
        'no such field.',
      resolve: ({ length }) => length?.max,
    }),
    message: t.exposeString('message', { description: 'What is wrong and what would be valid, for users.' }),
  }),
});

type InvalidFields = Extract<IbanGeneration, { kind: 'invalid' }>;

const InvalidIbanFieldsType = builder.objectRef<InvalidFields>('InvalidIbanFields').implement({
  description: 'No IBAN can be generated from these fields.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    fields: t.expose('problems', {
      type: [InvalidIbanFieldType],
      description: 'The problem of each invalid field; empty if the service does not report which fields are invalid.',
    }),
    suggestions: t.field({
      type: [IbanType],
      directives: [personalData],
      extensions: { maxItems: 1 },
      description:
        'The IBAN with the code of the parent country, if the only problem is that `country` is a territory, whose banks use ' +
        'IBANs of its parent: JE, GG and IM those of GB, MQ and others those of FR, AX those of FI. Otherwise empty.',
      resolve: ({ suggestions }) => [...suggestions],
    }),
  }),
});

const IbanRuleType = builder.enumType('IbanRule', {
  description:
    'Whether a generated IBAN is the one that the bank gives the account. Only German banks have rules for this.',
  values: {
    NONE: { description: 'The bank has no rule: the IBAN consists of bank code and account number.' },
    APPLIED: { description: 'The rule of the bank was applied: it may replace the bank code and the account number.' },
    UNKNOWN: {
      description:
        'It is not known whether the bank has a rule, so the IBAN may be that of another account: confirm it with the bank.',
    },
  } satisfies Record<IbanRuleState, { description: string }>,
});

builder.objectFields(IbanValidationType, (t) => ({
  ibanRule: t.field({
    type: IbanRuleType,
    nullable: true,
    description:
      'Only in the result of generateIban: what is known of the IBAN rule of the bank, by the lists of the gateway or by the service. ' +
      'Otherwise null.',
    resolve: ({ ibanRule }) => ibanRule,
  }),
}));

const GenerateIbanResultType = builder.unionType('GenerateIbanResult', {
  extensions: { cacheScope: 'private' },
  description: 'The validation of the generated IBAN, or the problems of the input fields.',
  types: [IbanValidationType, InvalidIbanFieldsType],
  resolveType: (result) => ('iban' in result ? IbanValidationType : InvalidIbanFieldsType),
});

const GenerateIbanInputType = builder.inputType('GenerateIbanInput', {
  description: 'The parts of the IBAN to generate. IbanCountry.ibanFields lists the fields that a country needs.',
  fields: (t) => ({
    country: t.string(requireText('country', maxLengths.country, 'ISO 3166-1 alpha-2 code, such as DE.')),
    bankCode: t.string(limitText('bank code', maxLengths.code, 'National bank code, unless accountNumber has it.')),
    branch: t.string(
      limitText('branch', maxLengths.code, 'Branch code, if the country has one, unless accountNumber has it.'),
    ),
    accountNumber: t.string({
      directives: [personalData],
      ...limitText(
        'account number',
        maxLengths.code,
        'Account number; points are ignored. With or without the check digits next to it that the gateway computes, behind a hyphen ' +
          'if zeros are left out (742221843-57), and with or without bank code and branch in front. Without bankCode and branch, ' +
          'the whole national number (BBAN). In CZ and SK, the branch may be before a hyphen (19-2000145399).',
      ),
    }),
  }),
});

builder.queryField('generateIban', (t) =>
  t.field({
    extensions: { ...bankDataScope, ...nullOnlyWithError },
    type: GenerateIbanResultType,
    nullable: true,
    directives: [lookUpCost, paid, personalData],
    description:
      'Generates an IBAN from its parts, computes all check digits and applies the IBAN rules of German banks (see ' +
      'IbanValidation.ibanRule). Fields with a wrong format, or with national check ' +
      'digits that do not match, are reported without an upstream call. Null, with an error, when the service fails. At most `limits.bankQueries` per query.',
    args: { input: t.arg({ type: GenerateIbanInputType, required: true, description: 'The parts of the IBAN.' }) },
    resolve: async (_, { input }, { services, limiter, requestContext }) => {
      limiter.take('bankQueries');
      const values = {
        country: compactIban(input.country),
        bankCode: compactIban(input.bankCode ?? ''),
        branch: compactIban(input.branch ?? ''),
        // With its separators, behind which check digits may be.
        accountNumber: input.accountNumber ?? '',
      };
      const generation = await services.bankData.generateIban(values, requestContext);
      const isGenerated = generation.kind === 'iban';
      const type = (isGenerated ? IbanValidationType : InvalidIbanFieldsType).name;
      requestContext.outcomes.push({ type, code: isGenerated ? null : 'BAD_USER_INPUT' });
      return isGenerated ? generation.validation : generation;
    },
  }),
);
