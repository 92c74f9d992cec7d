import { GatewayError } from '../../errors.ts';

/** Lists end here. Cursors reach one page further, so that a client can read each cursor that it received. */
export const maxOffset = 999_999_999;

/** An opaque cursor for an offset in a list. */
export function writeCursor(offset: number): string {
  return Buffer.from(`offset:${offset}`).toString('base64url');
}

/** @throws GatewayError if `writeCursor` did not create it */
export function readCursor(cursor: string): number {
  const [, offset] =
    Buffer.from(cursor, 'base64url')
      .toString()
      .match(/^offset:(\d{1,10})$/) ?? [];
  if (offset === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'after must be a cursor from pageInfo.endCursor or an edge.');
  }
  return Number(offset);
}
