import { isOld } from '../../../banks/bank-lists.ts';
import type { BankListStatus, BankStatus, BicSource } from '../../../banks/listed-bank.ts';
import { type BankScheme, type PaymentScheme, paymentSchemes } from '../../../banks/scheme-registers.ts';
import { GatewayError } from '../../../base/errors.ts';
import { compactBic } from '../../../iban/bic.ts';
import { countryCodes } from '../../../iban/country-codes.ts';
import { compactIban } from '../../../iban/iban.ts';
import { findCountryFormat } from '../../../iban/registry.ts';
import { type BankData, type BankPage, notKept } from '../../bank-data/bank-data.ts';
import { BicType, builder, DateType, NodeType } from './builder.ts';
import { PageInfoType, pageSize, pageSizeArg, readCursor, readPageSize, writeCursor } from './connection.ts';
import { type Context, limitToListFreshness } from './context.ts';
import { IbanCountryType } from './country.ts';
import { assumeSize, lookUpCost, nullOnlyWithError, paid } from './directives.ts';
import { entityKey, readKey, resolveReference } from './entities.ts';
import { bankDataScope, limitText, maxLengths, requireText } from './field-checks.ts';

const BicSourceType = builder.enumType('BicSource', {
  description: 'Where a BIC is from.',
  values: {
    NATIONAL_LIST: { description: 'From the list of bank codes of the country.' },
    REGISTER: {
      description: 'From a register of institutions (ES, FR): the BIC on account statements may be another one.',
    },
    CURATED: { description: 'From a list that volunteers keep: it may be old, and lack banks.' },
    CORRECTED: { description: 'From the corrections of Ledgerquill, where the list is wrong or lacks the bank.' },
  } as const satisfies Record<BicSource, object>,
});

const BankStatusType = builder.enumType('BankStatus', {
  description: 'Whether a bank is in the present list of its country.',
  values: {
    LISTED: { description: 'The present list has it.' },
    DELETED: {
      description: 'Only an older list has it, or it has closed or merged: its accounts may still be in use.',
    },
  } as const satisfies Record<BankStatus, object>,
});

const PaymentSchemeType = builder.enumType('PaymentScheme', {
  description: 'A payment scheme of the European Payments Council.',
  values: {
    SCT: { description: 'SEPA Credit Transfer.' },
    SCT_INST: { description: 'SEPA Instant Credit Transfer.' },
    SDD_CORE: { description: 'SEPA Direct Debit, Core.' },
    SDD_B2B: { description: 'SEPA Direct Debit, Business to Business.' },
    VOP: { description: 'Verification of Payee.' },
  } as const satisfies Record<PaymentScheme, object>,
});

const BankSchemeType = builder.objectRef<BankScheme>('BankScheme').implement({
  description: 'What the register of participants in a payment scheme says about a bank.',
  fields: (t) => ({
    scheme: t.expose('scheme', { type: PaymentSchemeType, description: 'The scheme.' }),
    takesPart: t.exposeBoolean('takesPart', {
      description:
        'Whether the register has the BIC, or that of its head office, as a participant today (UTC). If false, it may have the bank ' +
        'under another BIC.',
    }),
    since: t.expose('since', {
      type: DateType,
      nullable: true,
      description:
        'The first day on which it takes part, such as 2026-03-01, also if it is in the future; null if unknown.',
    }),
    until: t.expose('until', {
      type: DateType,
      nullable: true,
      description: 'The day on which it leaves the scheme, such as 2026-03-01; null if none is known.',
    }),
    registerDate: t.expose('registerDate', {
      type: DateType,
      description: 'The day on which the register was imported, such as 2026-03-01: it has no date of its own.',
    }),
  }),
});

export const BankDataType = builder.objectRef<BankData>('BankData').implement({
  interfaces: [NodeType],
  directives: [entityKey('id')],
  extensions: {
    cacheScope: 'public',
    ...bankDataScope,
    ...resolveReference(({ id }, context) => findBank(readKey('id', id, maxLengths.id), context)),
  },
  description: 'A bank, as the list of banks of its country has it.',
  fields: (t) => ({
    id: t.id({
      description: 'Country, bank code and BIC, which identify the record; several banks may share a BIC.',
      resolve: bankId,
    }),
    bankCode: t.exposeString('bankCode', {
      nullable: true,
      description: 'National bank code, or the routing number of a US bank; null if unknown.',
    }),
    countryCode: t.exposeString('countryCode', {
      nullable: true,
      description: 'ISO 3166-1 alpha-2 code of the country; null if unknown.',
    }),
    country: t.field({
      type: IbanCountryType,
      nullable: true,
      description: 'The IBAN format of its country; null if it is unknown, or has no IBANs, as the US.',
      resolve: ({ countryCode }) => (countryCode === null ? null : findCountryFormat(countryCode)),
    }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the bank; null if unknown.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street and number; null if unknown.' }),
    zip: t.exposeString('zip', { nullable: true, description: 'Postal code; null if unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'City; null if unknown.' }),
    bic: t.expose('bic', { type: BicType, nullable: true, description: 'ISO 9362 BIC; null if the list has none.' }),
    bicSource: t.expose('bicSource', {
      type: BicSourceType,
      nullable: true,
      description: 'Where the BIC is from; null without a BIC, or if the service does not report it.',
    }),
    status: t.expose('status', {
      type: BankStatusType,
      nullable: true,
      description:
        'Whether the present list has the bank, or it has closed or merged; null if the service does not report it.',
    }),
    successor: t.exposeString('successor', {
      nullable: true,
      description: 'National bank code of the bank that took over a deleted one, in the same country; null if unknown.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Publisher of the record; null if the service does not report it.',
    }),
    date: t.expose('date', {
      type: DateType,
      nullable: true,
      description:
        'Date of the published list in ISO 8601, such as 2026-03-01, or of its import, if the list has none; null if the ' +
        'service does not report it.',
    }),
    schemes: t.field({
      type: [BankSchemeType],
      nullable: true,
      extensions: { maxItems: paymentSchemes.length },
      description:
        'Whether it takes part in each payment scheme whose register was imported into DATA_DIR of the gateway; a scheme that is ' +
        'missing is unknown. Null without a BIC, or if no register was imported. Needs no further upstream call.',
      resolve({ bic }, _, { services, requestContext }) {
        limitToListFreshness(requestContext);
        return bic === null ? null : services.knownBanks.schemes(bic);
      },
    }),
  }),
});

const BankListType = builder.objectRef<BankListStatus>('BankList').implement({
  extensions: { cacheScope: 'public' },
  description: 'The list of the banks of a country that the gateway has.',
  fields: (t) => ({
    countryCode: t.exposeString('country', { description: 'ISO 3166-1 alpha-2 code of the country.' }),
    country: t.field({
      type: IbanCountryType,
      nullable: true,
      description: 'The IBAN format of the country; null if it has no IBANs, as the US.',
      resolve: ({ country }) => findCountryFormat(country),
    }),
    source: t.exposeString('source', { description: 'Its publisher.' }),
    bicSource: t.expose('kind', { type: BicSourceType, description: 'Where its BICs are from.' }),
    date: t.expose('date', { type: DateType, description: 'Its day, such as 2026-03-01.' }),
    validUntil: t.expose('validUntil', {
      type: DateType,
      nullable: true,
      description: 'Its last day; null if unknown: it then is out of date a year after its date.',
    }),
    isOutOfDate: t.boolean({ description: 'Whether its last day has passed.', resolve: isOld }),
    isComplete: t.exposeBoolean('isComplete', {
      description:
        'Whether it has all bank codes in use. A bank code that it does not have then is NOT_LISTED, unless the list is out of date.',
    }),
  }),
});

builder.queryField('bankLists', (t) =>
  t.field({
    extensions: bankDataScope,
    type: [BankListType],
    directives: [assumeSize(50)],
    description:
      'The lists of banks that the gateway has, by country: by them, it computes bankCodeStatus, bics and bicMatch. Needs no upstream call.',
    resolve(_, __, { services, requestContext }) {
      limitToListFreshness(requestContext);
      return services.knownBanks.lists();
    },
  }),
);

/** Such as `DE:37040044:COBADEFFXXX`. A bank with neither code nor BIC has its name. */
function bankId({ countryCode, bankCode, bic, name }: BankData): string {
  const parts = [countryCode, bankCode, bic];
  if (bankCode === null && bic === null) parts.push(name);
  return parts.map((part) => part ?? '').join(':');
}

/** The head office, or the branch if the BIC has one. */
async function findByBic(bic: string, { loaders }: Context): Promise<BankData | null> {
  return (await loaders.validateBic(compactBic(bic))).bank;
}

/** The record may be the one of its BIC; otherwise it is in the list of its country. */
export async function findBank(id: string, context: Context): Promise<BankData | null> {
  const { services, limiter, requestContext } = context;
  const [country, bankCode, bic = ''] = id.split(':');
  const ofBic = bic === '' ? null : await findByBic(bic, context);
  // In a quote, the record of this BIC is not known: it may be another one, and then the list is read.
  const isQuoted = (ofBic as unknown) === notKept;
  if (!isQuoted && (ofBic instanceof Error || (ofBic !== null && bankId(ofBic) === id))) return ofBic;
  const search = bankCode || bic;
  if (!country || !countryCodes.has(country) || !search || search.length > maxLengths.search) return null;
  limiter.take('bankQueries');
  const listing = { country, search, offset: 0, limit: 100 };
  const { banks } = await services.bankData.listBanks(listing, requestContext);
  return banks.find(({ bank }) => bankId(bank) === id)?.bank ?? null;
}

builder.queryField('bank', (t) =>
  t.field({
    extensions: bankDataScope,
    type: BankDataType,
    nullable: true,
    directives: [lookUpCost, paid],
    description:
      'The bank with this BIC; a BIC of 8 characters identifies the head office. Null if the BIC is not valid or the ' +
      'service does not know the bank. Null, with an error, when the service fails.',
    args: {
      bic: t.arg.string(requireText('BIC', maxLengths.code, 'The BIC: 8 or 11 characters; case is ignored.')),
    },
    resolve: (_, { bic }, context) => findByBic(bic, context),
  }),
);

const maxSearchWords = 10;

const BankDataEdgeType = builder.objectRef<BankPage['banks'][number]>('BankDataEdge').implement({
  description: 'A bank and its cursor.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Pass it as `after` to continue from here.',
      resolve: ({ offset }) => writeCursor(offset),
    }),
    node: t.expose('bank', { type: BankDataType, description: 'The bank.' }),
  }),
});

const BankDataConnectionType = builder.objectRef<BankPage>('BankDataConnection').implement({
  extensions: { cacheScope: 'public' },
  description: 'A page of banks.',
  fields: (t) => ({
    edges: t.expose('banks', { type: [BankDataEdgeType], description: 'The banks with their cursors.' }),
    nodes: t.field({
      type: [BankDataType],
      description: 'The banks without cursors.',
      resolve: ({ banks }) => banks.map(({ bank }) => bank),
    }),
    pageInfo: t.field({
      type: PageInfoType,
      description: 'Position in the list.',
      resolve: ({ banks, next }) => ({
        hasNext: next !== null,
        hasPrevious: (banks[0]?.offset ?? 0) > 0,
        start: banks[0]?.offset ?? null,
        end: (next === null ? banks.at(-1)?.offset : next - 1) ?? null,
      }),
    }),
    totalCount: t.exposeInt('total', {
      nullable: true,
      description: 'Number of banks in the whole list; null if the service does not report it.',
    }),
  }),
});

builder.queryField('banks', (t) =>
  t.field({
    extensions: { ...bankDataScope, ...nullOnlyWithError },
    type: BankDataConnectionType,
    nullable: true,
    directives: [lookUpCost, pageSize, paid],
    description:
      'Banks in pages, filtered by country and search text. A page may contain fewer than `first` banks. ' +
      'Null, with an error, when the service fails. At most `limits.bankQueries` per query.',
    args: {
      country: t.arg.string(
        limitText('country', maxLengths.country, 'ISO 3166-1 alpha-2 code, such as DE; null for all countries.'),
      ),
      search: t.arg.string(
        limitText(
          'search',
          maxLengths.search,
          `Up to ${maxSearchWords} words of a name, or part of a bank code or BIC; case and accents are ignored.`,
        ),
      ),
      first: t.arg.int(pageSizeArg),
      after: t.arg.string(
        limitText('cursor', maxLengths.cursor, 'Cursor of the bank before the page; null for the first page.'),
      ),
    },
    resolve: async (_, { country, search, first: size, after }, { services, limiter, requestContext }) => {
      const first = readPageSize(size);
      const listing = {
        country: readCountry(country),
        search: readSearch(search),
        offset: after == null ? 0 : readCursor(after) + 1,
        limit: first,
      };
      if (listing.offset > maxOffset) return { banks: [], next: null, total: null };
      limiter.take('bankQueries');
      return services.bankData.listBanks(listing, requestContext);
    },
  }),
);

function readCountry(country: string | null | undefined): string | null {
  if (country == null) return null;
  const code = compactIban(country);
  if (countryCodes.has(code)) return code;
  throw new GatewayError('BAD_USER_INPUT', 'The country must be an ISO 3166-1 alpha-2 code, such as DE.');
}

function readSearch(search: string | null | undefined): string | null {
  const words = search?.match(/\S+/g) ?? [];
  if (words.length <= maxSearchWords) return words.join(' ') || null;
  throw new GatewayError('BAD_USER_INPUT', `The search must have at most ${maxSearchWords} words.`);
}

/** Lists end here. Cursors reach one page further, so that a client can read each cursor that it received. */
const maxOffset = 999_999_999;
