import { GatewayError } from '../../../base/errors.ts';
import { countryCodes } from '../../../iban/country-codes.ts';
import { compactIban } from '../../../iban/iban.ts';
import type { BankPage } from '../../bank-data/bank-data.ts';
import { BankType } from './bank.ts';
import { builder } from './builder.ts';
import { PageInfoType, pageSize, pageSizeArg, readCursor, readPageSize, writeCursor } from './connection.ts';
import { lookUpCost, paid } from './directives.ts';
import { bankDataScope, limitText, maxLengths } from './field-checks.ts';

const maxSearchWords = 10;

const BankEdgeType = builder.objectRef<BankPage['banks'][number]>('BankEdge').implement({
  description: 'A bank and its cursor.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Pass it as `after` to continue from here.',
      resolve: ({ offset }) => writeCursor(offset),
    }),
    node: t.expose('bank', { type: BankType, description: 'The bank.' }),
  }),
});

const BankConnectionType = builder.objectRef<BankPage>('BankConnection').implement({
  extensions: { cacheScope: 'public' },
  description: 'A page of banks.',
  fields: (t) => ({
    edges: t.expose('banks', { type: [BankEdgeType], description: 'The banks with their cursors.' }),
    nodes: t.field({
      type: [BankType],
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
    extensions: bankDataScope,
    type: BankConnectionType,
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
