import type { BankPage } from '../../bank-data/bank-data.ts';
import { countryCodes } from '../../countries/country-codes.ts';
import { GatewayError } from '../../errors.ts';
import { compactIban } from '../../iban/iban.ts';
import { BankType } from './bank.ts';
import { builder } from './builder.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { paid } from './tags.ts';
import { lookUpWeight } from './weights.ts';

/* Pages as https://relay.dev/graphql/connections.htm has them, so that any client's cache can put them together. */

const mostPerPage = 100;

/** Shareable: any subgraph with a connection has the same. No other type here is one that others could answer alike. */
const PageInfoType = builder.objectRef<BankPage>('PageInfo').implement({
  description: 'Where a page lies in its list.',
  shareable: true,
  fields: (t) => ({
    hasNextPage: t.boolean({ description: 'Whether more follow.', resolve: ({ next }) => next !== null }),
    hasPreviousPage: t.boolean({
      description: 'Whether others come before.',
      resolve: ({ banks }) => (banks[0]?.offset ?? 0) > 0,
    }),
    startCursor: t.string({
      nullable: true,
      description: 'Cursor of the first entry; null on an empty page.',
      resolve: ({ banks }) => banks[0] && writeCursor(banks[0].offset),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Hand it to `after` for the next page; null where there is neither an entry nor a next page.',
      resolve: ({ banks, next }) => {
        const last = next === null ? banks.at(-1)?.offset : next - 1;
        return last === undefined ? null : writeCursor(last);
      },
    }),
  }),
});

const BankEdgeType = builder.objectRef<BankPage['banks'][number]>('BankEdge').implement({
  description: 'A bank and its place in the list.',
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
    edges: t.expose('banks', { type: [BankEdgeType], description: 'The banks with their places in the list.' }),
    nodes: t.field({
      type: [BankType],
      description: 'The banks alone.',
      resolve: ({ banks }) => banks.map(({ bank }) => bank),
    }),
    pageInfo: t.field({ type: PageInfoType, description: 'Where the page lies in the list.', resolve: (page) => page }),
    totalCount: t.exposeInt('total', {
      nullable: true,
      description: 'How many banks the whole list has; null where the service does not tell.',
    }),
  }),
});

builder.queryField('banks', (t) =>
  t.field({
    type: BankConnectionType,
    nullable: true,
    tag: paid,
    cost: lookUpWeight,
    listSize: { slicingArguments: ['first'], sizedFields: ['edges', 'nodes'], requireOneSlicingArgument: false },
    description:
      'Banks by country and name, a page at a time. A service that cannot search by itself may answer a search with ' +
      'pages that hold fewer banks. Null, with an error, when the service fails.',
    args: {
      country: t.arg.string({ description: 'ISO 3166-1 alpha-2 code; without it, all that the service lists.' }),
      search: t.arg.string({
        description: 'Part of a name, a bank code or a BIC, without regard to case and accents.',
      }),
      first: t.arg.int({ required: true, defaultValue: 20, description: `How many banks, from 1 to ${mostPerPage}.` }),
      after: t.arg.string({ description: 'The cursor after which the page begins.' }),
    },
    resolve: (_, { country, search, first, after }, { bankData, budget, requestContext }) => {
      if (first < 1 || first > mostPerPage) throw wrong(`first is ${first}; it must be from 1 to ${mostPerPage}.`);
      const listing = {
        country: readCountry(country),
        search: search?.trim() || null,
        offset: after == null ? 0 : readCursor(after) + 1,
        limit: first,
      };
      if (!budget.spend('bankQueries')) throw budget.exceeded('bankQueries');
      return bankData.listBanks(listing, requestContext);
    },
  }),
);

function readCountry(country: string | null | undefined): string | null {
  if (country == null) return null;
  const code = compactIban(country);
  if (!countryCodes.has(code)) throw wrong('country is no ISO 3166-1 alpha-2 code; write DE, FR, US ...');
  return code;
}

function wrong(message: string): GatewayError {
  return new GatewayError('BAD_USER_INPUT', message);
}
