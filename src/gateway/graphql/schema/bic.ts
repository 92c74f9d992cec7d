import { compactBic, findBicProblems, parseBic } from '../../../iban/bic.ts';
import { findPastedBic } from '../../../iban/pasted.ts';
import type { BicValidation } from '../../bank-data/bank-data.ts';
import { BankType } from './bank.ts';
import { BicType, builder } from './builder.ts';
import { lookUpCost, paid } from './directives.ts';
import { bankDataScope, maxLengths, requireText } from './field-checks.ts';
import { needsLookUp } from './loaders.ts';

const BicProblemType = builder.enumType('BicProblem', {
  description: 'Why a BIC is not valid.',
  values: {
    ILLEGAL_CHARACTERS: { description: 'It contains characters other than A-Z and 0-9.' },
    WRONG_LENGTH: { description: 'It does not have 8 or 11 characters.' },
    UNKNOWN_COUNTRY: { description: 'Its fifth and sixth characters are not a country code.' },
    REJECTED_BY_SERVICE: { description: 'Its format is correct, but the bank-data service reports it as not valid.' },
    SERVICE_FAILED: {
      description: 'Its format is correct, but the bank-data service failed: valid is null, with an error.',
    },
  } as const,
});

const BicValidationType = builder.objectRef<BicValidation>('BicValidation').implement({
  // It repeats the input, and people type IBANs into BIC fields.
  extensions: { cacheScope: 'private' },
  description: 'The result of validating a BIC. A BIC that is not valid is a result, not an error.',
  fields: (t) => ({
    bic: t.exposeID('bic', { description: 'The validated BIC, without spaces, in upper case.' }),
    valid: t.exposeBoolean('valid', {
      nullable: true,
      description:
        'Whether the BIC is valid, not whether it has been issued. Null, with an error, when the service fails; a BIC that is ' +
        'not well-formed is false without an upstream call.',
    }),
    problems: t.expose('problems', { type: [BicProblemType], description: 'Why it is not valid; empty if valid.' }),
    suggestions: t.field({
      type: [BicType],
      description:
        'The valid BIC that a pasted text contains, such as one behind "BIC:"; empty if it is well-formed, or contains none. Needs no ' +
        'upstream call.',
      resolve({ bic }) {
        const pasted = findBicProblems(bic).length === 0 ? null : findPastedBic(bic);
        return pasted === null ? [] : [pasted];
      },
    }),
    partyPrefix: t.string({
      nullable: true,
      description: 'Party prefix (institution): 4 characters; null if the BIC cannot be parsed.',
      resolve: ({ bic }) => parseBic(bic)?.partyPrefix,
    }),
    countryCode: t.string({
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null if the BIC cannot be parsed.',
      resolve: ({ bic }) => parseBic(bic)?.countryCode,
    }),
    location: t.string({
      nullable: true,
      description: 'Location: 2 characters; null if the BIC cannot be parsed.',
      resolve: ({ bic }) => parseBic(bic)?.location,
    }),
    branch: t.string({
      nullable: true,
      description: 'Branch: 3 characters, XXX for the head office; null if the BIC cannot be parsed.',
      resolve: ({ bic }) => parseBic(bic)?.branch,
    }),
    isHeadOffice: t.boolean({
      description: 'Whether it identifies the head office: it has 8 characters or ends in XXX.',
      resolve: ({ bic }) => parseBic(bic)?.isHeadOffice ?? false,
    }),
    isTest: t.boolean({
      description: 'Whether it is a test BIC, which cannot receive payments.',
      resolve: ({ bic }) => parseBic(bic)?.isTest ?? false,
    }),
    bank: t.expose('bank', {
      type: BankType,
      nullable: true,
      description: 'The bank; null if the service does not know it, or, with an error, when it fails.',
    }),
  }),
});

builder.queryField('bicValidation', (t) =>
  t.field({
    extensions: bankDataScope,
    type: BicValidationType,
    nullable: true,
    directives: [lookUpCost, paid],
    description:
      'Validates a BIC (SWIFT code) by ISO 9362 and finds its bank. The service is called only for valid, problems and bank. ' +
      'At most `limits.bics` per query.',
    args: {
      bic: t.arg.string(requireText('BIC', maxLengths.code, 'The BIC: 8 or 11 characters; case is ignored.')),
    },
    resolve: (_, { bic }, { loaders }, info) =>
      loaders.validateBic(compactBic(bic), needsLookUp(info, 'BicValidation')),
  }),
);
