import { GatewayError } from '../../../base/errors.ts';
import { builder } from './builder.ts';

/* Pagination follows https://relay.dev/graphql/connections.htm, so that client caches can merge pages. */

const maxPageSize = 100;
const defaultPageSize = 20;

/** The directive of a field with pages. */
export const pageSize = {
  name: 'listSize',
  args: { slicingArguments: ['first'], sizedFields: ['edges', 'nodes'], requireOneSlicingArgument: false },
} as const;

/** The options of its argument `first`. */
export const pageSizeArg = {
  defaultValue: defaultPageSize,
  description: `Page size, from 1 to ${maxPageSize}.`,
};

/** @throws GatewayError if it is out of range */
export function readPageSize(first: number | null | undefined): number {
  const size = first ?? defaultPageSize;
  if (size >= 1 && size <= maxPageSize) return size;
  throw new GatewayError('BAD_USER_INPUT', `The page size is ${size}; it must be from 1 to ${maxPageSize}.`);
}

/** The position of a page; `start` and `end` are numbers of items. */
interface PagePosition {
  hasNext: boolean;
  hasPrevious: boolean;
  start: number | null;
  end: number | null;
}

/** Shareable, because every subgraph with connections defines the same type. */
export const PageInfoType = builder.objectRef<PagePosition>('PageInfo').implement({
  description: 'Position of a page in its list.',
  directives: [{ name: 'shareable', args: {} }],
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNext', { description: 'Whether there is a next page.' }),
    hasPreviousPage: t.exposeBoolean('hasPrevious', { description: 'Whether there are items before this page.' }),
    startCursor: t.string({
      nullable: true,
      description: 'Cursor of the first item; null if the page is empty.',
      resolve: ({ start }) => (start === null ? null : writeCursor(start)),
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Pass it as `after` to get the next page; null if the page is empty and there is no next page.',
      resolve: ({ end }) => (end === null ? null : writeCursor(end)),
    }),
  }),
});

/** An opaque cursor for the number of an item in a list. */
export function writeCursor(number: number): string {
  return Buffer.from(`offset:${number}`).toString('base64url');
}

/** @throws GatewayError if `writeCursor` did not create it */
export function readCursor(cursor: string): number {
  const [, number] =
    Buffer.from(cursor, 'base64url')
      .toString()
      .match(/^offset:(\d{1,10})$/) ?? [];
  if (number === undefined) throw new GatewayError('BAD_USER_INPUT', 'The cursor must be one that the list returned.');
  return Number(number);
}
