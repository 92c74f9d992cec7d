import { type BicMatch, compactBic, findBicProblems, fullBic, matchBic } from '../../../iban/bic.ts';
import { parseIban } from '../../../iban/iban.ts';
import type { IbanValidation } from '../../bank-data/bank-data.ts';
import { BicType, builder } from './builder.ts';
import { type Context, limitToListFreshness } from './context.ts';
import { maxLengths, requireText } from './field-checks.ts';
import { IbanValidationType } from './iban.ts';

const BicMatchType = builder.enumType('BicMatch', {
  description: 'Whether a BIC is one of the bank that an IBAN belongs to. A hint: payments in SEPA go to the IBAN.',
  values: {
    SAME_BANK: {
      description:
        'It has the same bank, country and location as a BIC of the bank code; the branch may be another one.',
    },
    OTHER_BANK: {
      description:
        'All BICs of the bank code are of other banks: confirm IBAN and BIC with the payee; do not reject them, as the ' +
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
      'gateway, of older ones too. Empty if none is known. Needs no upstream call.',
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
