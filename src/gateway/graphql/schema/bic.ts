import { type BicMatch, compactBic, findBicProblems, fullBic, matchBic, parseBic } from '../../../iban/bic.ts';
import { parseIban } from '../../../iban/iban.ts';
import { findPastedBic } from '../../../iban/pasted.ts';
import type { BicValidation, IbanValidation } from '../../bank-data/bank-data.ts';
import { BankDataType } from './bank.ts';
import { BicType, builder } from './builder.ts';
import { type Context, limitToListFreshness } from './context.ts';
import { lookUpCost, nullOnlyWithError, paid } from './directives.ts';
import { bankDataScope, maxLengths, requireText } from './field-checks.ts';
import { IbanValidationType } from './iban.ts';
import { needsLookUp } from './loaders.ts';

const BicProblemType = builder.enumType('BicProblem', {
  description: 'Why a BIC is not valid.',
  values: {
    ILLEGAL_CHARACTERS: { description: 'It contains characters other than A-Z and 0-9.' },
    WRONG_LENGTH: { description: 'It does not have 8 or 11 characters.' },
    UNKNOWN_COUNTRY: { description: 'Its fifth and sixth characters are not a country code.' },
    REJECTED_BY_SERVICE: { description: 'Its format is correct, but the bank-data service reports it as not valid.' },
  } as const,
});

const BicValidationType = builder.objectRef<BicValidation>('BicValidation').implement({
  // It repeats the input, and people type IBANs into BIC fields.
  extensions: { cacheScope: 'private' },
  description: 'The result of validating a BIC. A BIC that is not valid is a result, not an error.',
  fields: (t) => {
    const part = (name: 'partyPrefix' | 'countryCode' | 'location' | 'branch', description: string) =>
      t.string({
        nullable: true,
        description: `${description}; null if the BIC cannot be parsed.`,
        resolve: ({ bic }) => parseBic(bic)?.[name],
      });
    return {
      bic: t.expose('bic', { type: BicType, description: 'The validated BIC, which may be wrong.' }),
      valid: t.exposeBoolean('valid', {
        nullable: true,
        extensions: nullOnlyWithError,
        description:
          'Whether the BIC is valid, not whether it has been issued. Null, with an error, when the service fails; a BIC that is ' +
          'not well-formed is false without an upstream call.',
      }),
      problems: t.expose('problems', {
        type: [BicProblemType],
        nullable: true,
        extensions: nullOnlyWithError,
        description: 'Why it is not valid; empty if valid. Null, with an error, when the service fails.',
      }),
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
      partyPrefix: part('partyPrefix', 'Party prefix (institution): 4 characters'),
      countryCode: part('countryCode', 'ISO 3166-1 alpha-2 code of the country'),
      location: part('location', 'Location: 2 characters'),
      branch: part('branch', 'Branch: 3 characters, XXX for the head office'),
      isHeadOffice: t.boolean({
        description: 'Whether it identifies the head office: it has 8 characters or ends in XXX.',
        resolve: ({ bic }) => parseBic(bic)?.isHeadOffice ?? false,
      }),
      isTest: t.boolean({
        description: 'Whether it is a test BIC, which cannot receive payments.',
        resolve: ({ bic }) => parseBic(bic)?.isTest ?? false,
      }),
      bankData: t.expose('bank', {
        type: BankDataType,
        nullable: true,
        description: 'The bank; null if the service does not know it, or, with an error, when it fails.',
      }),
    };
  },
});

builder.queryField('bicValidation', (t) =>
  t.field({
    extensions: { ...bankDataScope, ...nullOnlyWithError },
    type: BicValidationType,
    nullable: true,
    directives: [lookUpCost, paid],
    description:
      'Validates a BIC (SWIFT code) by ISO 9362 and finds its bank. The service is called only for valid, problems and bankData. ' +
      'At most `limits.bics` per query.',
    args: {
      bic: t.arg.string(requireText('BIC', maxLengths.code, 'The BIC: 8 or 11 characters; case is ignored.')),
    },
    resolve: (_, { bic }, { loaders }, info) =>
      loaders.validateBic(compactBic(bic), needsLookUp(info, 'BicValidation')),
  }),
);

const BicMatchType = builder.enumType('BicMatch', {
  description: 'Whether a BIC is one of the bank that an IBAN belongs to. A hint: payments in SEPA go to the IBAN.',
  values: {
    SAME_BANK: {
      description:
        'It has the same bank, country and location as a BIC of the bank code; the branch may be another one.',
    },
    OTHER_BANK: {
      description:
        'All BICs of the bank code, of former ones and of banks that merged with it, too, are of other banks: confirm IBAN and BIC with the payee; do not reject them, as the ' +
        'lists may lack a BIC.',
    },
    UNKNOWN: {
      description:
        'No BIC of the bank code is known; one is of the same bank in another location or country; the BIC is not valid; or ' +
        'the IBAN cannot be parsed.',
    },
  } as const satisfies Record<BicMatch, object>,
});

/** Shipped lists give at most two for a bank code; an imported one may have branches. */
const maxBics = 20;

builder.objectFields(IbanValidationType, (t) => ({
  bicMatch: t.field({
    type: BicMatchType,
    description:
      'Whether this BIC is one of the bank of the IBAN, by all BICs that the bank lists of the gateway give for its bank code, and ' +
      'the one of bankData if it was looked up. It never makes an IBAN invalid. Needs no upstream call.',
    args: {
      bic: t.arg.string(
        requireText('BIC', maxLengths.code, 'The BIC: 8 or 11 characters; case and spaces are ignored.'),
      ),
    },
    resolve(validation, { bic }, context) {
      const compacted = compactBic(bic);
      if (findBicProblems(compacted).length > 0) return 'UNKNOWN';
      return matchBic(compacted, findBics(validation, context));
    },
  }),
  bics: t.field({
    type: [BicType],
    extensions: { maxItems: maxBics },
    description:
      `The BICs of its bank code, at most ${maxBics}: the one of bankData if it was looked up, then those of the bank lists of the ` +
      'gateway: the present one, former ones, and those of banks that merged with it. Empty if none is known. Needs no upstream call.',
    resolve: (validation, _, context) => findBics(validation, context).slice(0, maxBics),
  }),
}));

/** Each once, with or without the branch of the head office. */
function findBics({ iban, bankData }: IbanValidation, { services, requestContext }: Context): string[] {
  limitToListFreshness(requestContext);
  const parts = parseIban(iban);
  if (parts === null) return [];
  // Without a look-up, or if it failed, it is an error.
  const answered: unknown = bankData instanceof Error ? null : bankData?.bic;
  const listed = services.knownBanks.bics(parts.countryCode, parts.bankCode);
  const bics = typeof answered === 'string' ? [compactBic(answered), ...listed] : listed;
  return bics.filter((bic, index) => bics.findIndex((other) => fullBic(other) === fullBic(bic)) === index);
}
