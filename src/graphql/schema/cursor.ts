import { GatewayError } from '../../errors.ts';

/** A place in a list, as clients hand it back: they need not know what it is made of. */
export function writeCursor(offset: number): string {
  return Buffer.from(`offset:${offset}`).toString('base64url');
}

/** @throws GatewayError for anything that `writeCursor` did not write */
export function readCursor(cursor: string): number {
  const [, offset] =
    Buffer.from(cursor, 'base64url')
      .toString()
      .match(/^offset:(\d{1,9})$/) ?? [];
  if (offset === undefined) {
    throw new GatewayError('BAD_USER_INPUT', 'after is no cursor; take one from pageInfo.endCursor or an edge.');
  }
  return Number(offset);
}
