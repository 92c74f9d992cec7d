import { compactIban } from '../../../iban/iban.ts';
import type { IbanValidation } from '../../bank-data/bank-data.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { assumeSize, paid, personalData, shortTextCost } from './directives.ts';
import { bankDataScope, checkText, limitText, maxLengths, stateTextLimit } from './field-checks.ts';
import { IbanValidationType } from './iban.ts';
import { needsLookUp, settleAll } from './loaders.ts';

const typicalListLength = 50;

builder.queryField('ibanValidations', (t) =>
  t.field({
    extensions: bankDataScope,
    type: [IbanValidationType],
    nullable: { list: true, items: true },
    directives: [assumeSize(typicalListLength), paid, personalData],
    description:
      'Validates a list of IBANs; results are in the order of the input. Duplicates are looked up once. The service is called ' +
      'only for valid, problems, ibanData and bankData. Null, with an error, for more than `limits.ibans` IBANs.',
    args: {
      ibans: t.arg.stringList({
        required: true,
        ...stateTextLimit(maxLengths.code, 'The IBANs; case, spaces and hyphens are ignored.'),
      }),
    },
    resolve: (_, { ibans }, context, info) => validateAll(ibans, needsLookUp(info, 'IbanValidation'), context),
  }),
);

const IbanItemType = builder.inputType('IbanItem', {
  description: 'An IBAN of a list, and what the client calls it.',
  fields: (t) => ({
    iban: t.string({
      required: true,
      ...stateTextLimit(maxLengths.code, 'The IBAN; case, spaces and hyphens are ignored.'),
    }),
    reference: t.string(
      limitText(
        'reference',
        maxLengths.reference,
        'Returned as `IbanItemResult.reference`, such as the number of a row.',
      ),
    ),
  }),
});

const IbanItemResultType = builder
  .objectRef<{ reference: string | null; validation: IbanValidation }>('IbanItemResult')
  .implement({
    extensions: { cacheScope: 'private' },
    description: 'The validation of an item of a list. It has no key: two items may have the same IBAN.',
    fields: (t) => ({
      reference: t.exposeString('reference', {
        nullable: true,
        directives: [shortTextCost],
        description: '`IbanItem.reference`, as the client sent it; null if it sent none.',
      }),
      validation: t.expose('validation', {
        type: IbanValidationType,
        nullable: true,
        description: 'The validation of `IbanItem.iban`; null, with an error, if the IBAN is too long.',
      }),
    }),
  });

builder.queryField('ibanItems', (t) =>
  t.field({
    extensions: bankDataScope,
    type: [IbanItemResultType],
    nullable: true,
    directives: [assumeSize(typicalListLength), paid, personalData],
    description:
      'As `ibanValidations`, for IBANs to which the client gives references, such as the rows of a file: each result has the ' +
      'reference of its item. Null, with an error, for more than `limits.ibans` items.',
    args: {
      items: t.arg({ type: [IbanItemType], required: true, description: 'The IBANs with their references.' }),
    },
    resolve: async (_, { items }, context, info) => {
      const ibans = items.map(({ iban }) => iban);
      const validations = await validateAll(ibans, needsLookUp(info, 'IbanItemResult'), context);
      // One that failed is an Error, which executors report at `validation`.
      return validations.map((validation, index) => ({ validation, reference: items[index]?.reference ?? null }));
    },
  }),
);

/** @throws GatewayError for more IBANs than a query may have; one that is too long is an Error at its position */
function validateAll(ibans: readonly string[], isLookedUp: boolean, context: Context): Promise<IbanValidation[]> {
  const { loaders, limiter, requestContext } = context;
  if (ibans.length > limiter.limits.ibans) throw limiter.createLimitError('ibans');
  const validate = (iban: string) =>
    loaders.validateIban(compactIban(checkText('IBAN', iban, maxLengths.code)), isLookedUp);
  // Not limited here: the loader limits how many are looked up at a time.
  return settleAll(ibans, validate, requestContext.signal);
}
