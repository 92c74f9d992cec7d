import { describe, expect, it } from 'vitest';
import { createShares, holderOf } from '../../../src/gateway/http/shares.ts';

/** Shares of a limit, with a list of those that were lost. */
function tShares(max: number) {
  const shares = createShares(max);
  const lost: string[] = [];
  let taken = 0;
  return {
    lost,
    take(name: string, holder: string, amount: number, rank = 0) {
      const share = shares.take({ holder, rank: () => rank, onLost: () => lost.push(name) });
      taken += 1;
      share.usedAt = taken;
      share.add(amount);
      return share;
    },
    takeAtOnce: (name: string, holder: string, amount: number) =>
      shares.take({ holder, amount, onLost: () => lost.push(name) }),
  };
}

describe('beyond the limit, a share is lost', () => {
  it('by the holder of most, even if others have older ones', () => {
    const { take, lost } = tShares(100);
    take('slow upload of B', 'b', 5);
    for (const name of ['A1', 'A2', 'A3']) take(name, 'a', 30);
    take('C1', 'c', 10);
    expect(lost).toEqual(['A1']);
  });

  it('that has the lowest rank, and of these the one that was used least recently', () => {
    const { take, lost } = tShares(3);
    take('executing', 'a', 1, 2);
    const idle = take('idle', 'a', 1);
    take('idle for longer', 'a', 1);
    idle.usedAt = 10;
    take('B1', 'b', 1);
    take('C1', 'c', 1);
    expect(lost).toEqual(['idle for longer', 'idle']);
  });

  it('of the lowest rank if several hold the same', () => {
    const { take, lost } = tShares(2);
    take('executing', 'a', 1, 2);
    take('idle', 'b', 1);
    take('new', 'c', 1, 2);
    expect(lost).toEqual(['idle']);
  });

  it('but never the one that is taken at once', () => {
    const { takeAtOnce, lost } = tShares(2);
    for (const name of ['first', 'second', 'third']) takeAtOnce(name, 'a', 1);
    takeAtOnce('fourth', 'b', 1);
    expect(lost).toEqual(['first', 'second']);
  });

  it('by one that grows, if no other holder has as much', () => {
    const { take, lost } = tShares(100);
    const upload = take('upload', 'a', 60);
    take('other', 'b', 20);
    upload.add(30);
    expect(lost).toEqual(['upload']);
  });

  it('until what is left is within the limit', () => {
    const { take, lost } = tShares(100);
    for (const name of ['A1', 'A2', 'A3']) take(name, 'a', 30);
    take('B1', 'b', 60);
    expect(lost).toEqual(['A1', 'A2']);
  });
});

describe('a share', () => {
  it('counts no more once it was released, and is not lost', () => {
    const { take, lost } = tShares(10);
    const first = take('first', 'a', 10);
    first.release();
    first.release();
    first.add(100);
    first.assignTo('b');
    take('second', 'c', 10);
    expect(lost).toEqual([]);
  });

  it('is held by its caller once it was assigned, and by its address again for a client without one', () => {
    const { take, lost } = tShares(3);
    const shares = ['1', '2', '3'].map((name) => take(name, 'address', 1));
    shares[0]?.assignTo('caller');
    expect(shares.map(({ holder }) => holder)).toEqual(['caller', 'address', 'address']);
    take('4', 'other', 1);
    expect(lost).toEqual(['2']);
    shares[0]?.assignTo(null);
    take('5', 'other', 1);
    expect(lost).toEqual(['2', '1']);
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
  ['2001:db8:0:1::5', '2001:db8:0:1'],
  ['2001:db8::5', '2001:db8'],
  ['2001:db8::6:7', '2001:db8'],
])('the address %s is one of the client %s', (address, client) => {
  expect(holderOf(address)).toBe(client);
});
