import type { BankCodeStatus } from '../../../banks/known-banks.ts';
import {
  compactIban,
  findIbanProblems,
  type IbanParts,
  isValidIban,
  maskIban,
  parseIban,
  printIban,
} from '../../../iban/iban.ts';
import { nationalCheck } from '../../../iban/national-checks.ts';
import { findCountryFormat } from '../../../iban/registry.ts';
import { suggestIbans } from '../../../iban/suggest-ibans.ts';
import type { IbanData, IbanValidation } from '../../bank-data/bank-data.ts';
import { BankDataType } from './bank.ts';
import { builder, IbanType, NodeType } from './builder.ts';
import { type Context, limitToListFreshness } from './context.ts';
import { IbanCountryType } from './country.ts';
import {
  assumeSize,
  itemsNullOnlyWithError,
  lookUpCost,
  nullOnlyWithError,
  paid,
  personalData,
  suggestionsCost,
} from './directives.ts';
import { entityKey, readKey, resolveReference } from './entities.ts';
import { bankDataScope, checkText, maxLengths, requireText, stateTextLimit } from './field-checks.ts';
import { needsLookUp, settleAll } from './loaders.ts';

const IbanProblemType = builder.enumType('IbanProblem', {
  description: 'Why an IBAN is not valid.',
  values: {
    EMPTY: { description: 'It is empty, or has only spaces and hyphens.' },
    ILLEGAL_CHARACTERS: { description: 'It contains characters other than A-Z and 0-9.' },
    UNKNOWN_COUNTRY: { description: 'It does not start with the code of a country that has IBANs.' },
    NOT_REGISTERED: {
      description:
        'Its country uses numbers like IBANs, but is not in the SWIFT registry: AO, BF, BJ, CF, CG, CI, CM, CV, DZ, GA, GQ, GW, ' +
        'IR, KM, MA, MG, ML, MZ, NE, SN, TD or TG. If this is its only problem, its length, structure and check digits are right.',
    },
    TOO_SHORT: { description: 'It is too short for its country: structure and check digits are not checked.' },
    TOO_LONG: { description: 'It is too long for its country: structure and check digits are not checked.' },
    WRONG_STRUCTURE: { description: 'It has a letter where its country requires a digit, or the reverse.' },
    CHECK_DIGITS_OUT_OF_RANGE: { description: 'Its check digits are 00, 01 or 99, which are never issued.' },
    WRONG_CHECK_DIGITS: { description: 'Its check digits do not match: probably a typing error.' },
    REJECTED_BY_SERVICE: { description: 'Its format is correct, but the bank-data service reports it as not valid.' },
  } as const,
});

const NationalCheckType = builder.enumType('NationalCheck', {
  description: 'The result of checking the national check digits inside an IBAN.',
  values: {
    PASSED: { description: 'They match.' },
    FAILED: { description: 'They do not match: confirm the IBAN with the payee; do not reject it.' },
    NOT_APPLICABLE: { description: 'There are none, the rule is unknown, or it does not apply to this account.' },
  } as const,
});

const BankCodeStatusType = builder.enumType('BankCodeStatus', {
  description: 'Whether the national list of bank codes has a bank code.',
  values: {
    LISTED: { description: 'It is in the list.' },
    NOT_LISTED: {
      description:
        'The list of the country is complete and not out of date, and does not have it: confirm the IBAN with the payee; do ' +
        'not reject it. bankData may still have the bank.',
    },
    UNKNOWN: {
      description:
        'There is no list of the country; the list is incomplete or out of date, and does not have it; only an older list ' +
        'has it; or the IBAN cannot be parsed.',
    },
  } as const satisfies Record<BankCodeStatus, object>,
});

/* Options of fields that two types have. New ones for each field: Pothos adds to their directives. */
const checksum = () => ({ directives: [personalData], description: 'The two check digits of the IBAN.' });
const bban = () => ({
  directives: [personalData],
  description: 'The basic bank account number (BBAN): the IBAN without its first 4 characters.',
});
const nationalChecksum = () => ({
  directives: [personalData],
  nullable: true as const,
  description: 'The national check digits; null if the country has none at a fixed position.',
});

const IbanDataType = builder.objectRef<IbanData>('IbanData').implement({
  description:
    'The parts of an IBAN, from the bank-data service, or from the SWIFT registry format if only the check digits ' +
    'are wrong.',
  fields: (t) => ({
    country: t.exposeString('country', {
      nullable: true,
      description: 'Name of the country, in English; null if unknown.',
    }),
    countryCode: t.exposeString('countryCode', {
      description: 'ISO 3166-1 alpha-2 code of the country; XK for Kosovo.',
    }),
    sepaCountry: t.exposeBoolean('sepaCountry', {
      nullable: true,
      description: 'Whether the country takes part in SEPA; null if the service does not report it.',
    }),
    checksum: t.exposeString('checksum', checksum()),
    bban: t.exposeString('bban', bban()),
    bankCode: t.exposeString('bankCode', { nullable: true, description: 'The national bank code; null if unknown.' }),
    accountNumber: t.exposeString('accountNumber', {
      directives: [personalData],
      nullable: true,
      description:
        'The BBAN after bank code and branch, including national check digits; null if unknown. generateIban accepts it, as well ' +
        'as the shorter value of IbanCountry.ibanFields.',
    }),
    branch: t.exposeString('branch', {
      nullable: true,
      description: 'The branch code; null if the country has none.',
    }),
    nationalChecksum: t.exposeString('nationalChecksum', nationalChecksum()),
    countryIbanFormatAsSwift: t.exposeString('countryIbanFormatAsSwift', {
      nullable: true,
      description: "The country's IBAN format in SWIFT notation, such as DE2!n8!n10!n; null if unknown.",
    }),
    countryIbanFormatAsRegex: t.exposeString('countryIbanFormatAsRegex', {
      nullable: true,
      description: "The country's IBAN format as a regular expression for an IBAN without spaces; null if unknown.",
    }),
  }),
});

/** A compacted IBAN, or what was sent in its place, and its parts, unless its structure is wrong. */
type IbanFormat = { iban: string } & Partial<IbanParts>;

const IbanFormatType = builder.objectRef<IbanFormat>('IbanFormat').implement({
  description:
    'What the SWIFT registry says about an IBAN. It needs no upstream call, so it is complete while the service fails or the ' +
    'allowance is exhausted.',
  fields: (t) => ({
    isWellFormed: t.boolean({
      description: 'Whether length, structure and check digits are right: all but what only the service knows.',
      resolve: ({ iban }) => isValidIban(iban),
    }),
    problems: t.field({
      type: [IbanProblemType],
      description: 'Why it is not well-formed; empty if it is.',
      resolve: ({ iban }) => findIbanProblems(iban),
    }),
    countryCode: t.exposeString('countryCode', {
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null, as all parts, if the structure is wrong.',
    }),
    checksum: t.exposeString('checkDigits', { ...checksum(), nullable: true }),
    bban: t.exposeString('bban', { ...bban(), nullable: true }),
    bankCode: t.exposeString('bankCode', {
      nullable: true,
      description: 'The national bank code.',
    }),
    branch: t.exposeString('branch', {
      nullable: true,
      description: 'The branch code; null if the country has none.',
    }),
    accountNumber: t.exposeString('bbanRemainder', {
      nullable: true,
      directives: [personalData],
      description: 'The BBAN after bank code and branch, including national check digits.',
    }),
    nationalChecksum: t.exposeString('nationalCheckDigits', nationalChecksum()),
    printFormat: t.string({
      directives: [personalData],
      description: 'The IBAN in groups of four, as on paper: DE89 3704 0044 0532 0130 00.',
      resolve: ({ iban }) => printIban(iban),
    }),
    masked: t.string({
      description: 'The IBAN with all but its first and last four characters hidden: DE89 **** **** **** **30 00.',
      resolve: ({ iban }) => maskIban(iban),
    }),
  }),
});

export const IbanValidationType = builder.objectRef<IbanValidation>('IbanValidation').implement({
  interfaces: [NodeType],
  directives: [entityKey('iban'), lookUpCost],
  extensions: {
    cacheScope: 'private',
    ...bankDataScope,
    ...resolveReference(({ iban }, { loaders }, info) =>
      loaders.validateIban(compactIban(readKey('iban', iban, maxLengths.code)), needsLookUp(info, 'IbanValidation')),
    ),
  },
  description: 'The result of validating an IBAN. An IBAN that is not valid is a result, not an error.',
  fields: (t) => ({
    id: t.id({
      description: 'For `node(id:)`: the encrypted IBAN, which only gateways with the same STORE_SECRET can read.',
      resolve: ({ iban }, _, { services }) => services.ibanIds.write(iban),
    }),
    iban: t.expose('iban', {
      type: IbanType,
      directives: [personalData],
      description: 'The validated IBAN, which may be wrong.',
    }),
    format: t.field({
      type: IbanFormatType,
      description:
        'What the SWIFT registry says about it: complete without an upstream call, also while the service fails.',
      resolve: ({ iban }) => ({ iban, ...parseIban(iban) }),
    }),
    valid: t.exposeBoolean('valid', {
      nullable: true,
      extensions: nullOnlyWithError,
      description:
        'Whether the IBAN is valid, not whether the account exists. Null, with an error, when the service fails; an IBAN that ' +
        'is not well-formed is false without an upstream call.',
    }),
    problems: t.expose('problems', {
      type: [IbanProblemType],
      nullable: true,
      extensions: nullOnlyWithError,
      description: 'Why it is not valid; empty if valid. Null, with an error, when the service fails.',
    }),
    ibanData: t.expose('ibanData', {
      type: IbanDataType,
      nullable: true,
      description: 'The parts of the IBAN; null if it cannot be parsed, or, with an error, when the service fails.',
    }),
    bankData: t.expose('bankData', {
      type: BankDataType,
      nullable: true,
      description: 'The bank of the account; null if the service does not know it, or, with an error, when it fails.',
    }),
    bankCodeStatus: t.field({
      type: BankCodeStatusType,
      description:
        'Whether the national list that the gateway has contains the bank code. It never makes an IBAN invalid. Needs no ' +
        'upstream call.',
      resolve({ iban }, _, { services, requestContext }) {
        limitToListFreshness(requestContext);
        const parts = parseIban(iban);
        return parts === null ? 'UNKNOWN' : services.knownBanks.status(parts.countryCode, parts.bankCode);
      },
    }),
    countryIbanExample: t.field({
      type: IbanType,
      nullable: true,
      description:
        'A valid IBAN of the same country, as an example of the format; null if the country is unknown or not registered. Needs no ' +
        'upstream call.',
      resolve: ({ iban }) => findCountryFormat(iban.slice(0, 2))?.example,
    }),
    country: t.field({
      type: IbanCountryType,
      nullable: true,
      description:
        "Its country's IBAN format; null if the country is not in the SWIFT registry. Needs no upstream call.",
      resolve: ({ iban }) => findCountryFormat(iban.slice(0, 2)),
    }),
    nationalCheck: t.field({
      type: NationalCheckType,
      description:
        'Whether its national check digits match. A failed check does not make an IBAN invalid: banks have exemptions. German ' +
        "account numbers are checked only if the Bundesbank's file was imported into DATA_DIR of the gateway. Needs no " +
        'upstream call.',
      resolve({ iban }, _, { services, requestContext }) {
        if (!iban.startsWith('DE')) return nationalCheck(iban);
        limitToListFreshness(requestContext);
        return nationalCheck(iban, { germanMethod: services.knownBanks.accountCheckMethod(iban.slice(4, 12)) });
      },
    }),
    suggestions: t.field({
      type: [IbanType],
      directives: [suggestionsCost, personalData],
      description:
        'Up to five valid IBANs: the one that a pasted text contains, or those that differ by one typing error, or by O for 0 and I ' +
        'for 1, most likely first; empty if it is well-formed. At most `limits.suggestions` IBANs of a query have some. Needs no upstream call.',
      resolve: ({ iban }, _, context) => (findIbanProblems(iban).length === 0 ? [] : suggestOnce(iban, context)),
    }),
  }),
});

builder.queryField('ibanValidation', (t) =>
  t.field({
    extensions: { ...bankDataScope, ...nullOnlyWithError },
    type: IbanValidationType,
    nullable: true,
    directives: [paid, personalData],
    description:
      'Validates an IBAN and finds its country and bank. The service is called only for valid, problems, ibanData and bankData. ' +
      'At most `limits.ibans` per query.',
    args: {
      iban: t.arg.string(requireText('IBAN', maxLengths.code, 'The IBAN; case, spaces and hyphens are ignored.')),
    },
    resolve: (_, { iban }, { loaders }, info) =>
      loaders.validateIban(compactIban(iban), needsLookUp(info, 'IbanValidation')),
  }),
);

builder.queryField('ibanValidations', (t) =>
  t.field({
    extensions: { ...bankDataScope, ...itemsNullOnlyWithError },
    type: [IbanValidationType],
    nullable: { list: true, items: true },
    directives: [assumeSize(50), paid, personalData],
    description:
      'Validates a list of IBANs: each result is at the position of its IBAN. Duplicates are looked up once. The service is called ' +
      'only for valid, problems, ibanData and bankData. Null, with an error, for more than `limits.ibans` IBANs.',
    args: {
      ibans: t.arg.stringList({
        required: true,
        ...stateTextLimit(maxLengths.code, 'The IBANs; case, spaces and hyphens are ignored.'),
      }),
    },
    resolve(_, { ibans }, { loaders, limiter, requestContext }, info) {
      if (ibans.length > limiter.limits.ibans) throw limiter.createLimitError('ibans');
      const isLookedUp = needsLookUp(info, 'IbanValidation');
      // One that is too long is an Error at its position.
      const validate = (iban: string) =>
        loaders.validateIban(compactIban(checkText('IBAN', iban, maxLengths.code)), isLookedUp);
      // Not limited here: the loader limits how many are looked up at a time.
      return settleAll(ibans, validate, requestContext.signal);
    },
  }),
);

/** Suggests valid IBANs for an invalid one, once per query, for all aliases. @throws GatewayError over the limit of the query */
function suggestOnce(iban: string, { suggestions, services, limiter }: Context): Promise<string[]> {
  const known = suggestions.get(iban);
  if (known !== undefined) return known;
  limiter.take('suggestions');
  const suggested = services.slices(() => [...suggestIbans(iban, { isKnownBank: services.knownBanks.has })]);
  suggestions.set(iban, suggested);
  return suggested;
}
