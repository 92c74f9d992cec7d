import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { createCheckPlaces } from '../../../src/gateway/http/check-places.ts';
import { settle } from '../../support/turns.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

const signal = new AbortableSignal();

/** Places, with what became of each request in the order in which they got one. */
function tPlaces(places: number) {
  const { take, callers } = createCheckPlaces({ places, maxWaitMs: 20_000 });
  const leave = new Map<string, () => void>();
  const refused: string[] = [];
  const ask = async (caller: string, name: string, signal = new AbortableSignal()) => {
    const given = await take(caller, signal);
    if (given === null) refused.push(name);
    else leave.set(name, given);
  };
  return { ask, leave: (name: string) => leave.get(name)?.(), taken: () => [...leave.keys()], refused, callers };
}

describe('the places of files that are checked', () => {
  it('are for several callers: one has at most half of them', async () => {
    const { ask, taken, leave } = tPlaces(2);
    for (const name of ['a1', 'a2', 'a3']) void ask('a', name);
    void ask('b', 'b1');
    await settle();
    expect(taken()).toEqual(['a1', 'b1']);
    leave('a1');
    await settle();
    expect(taken()).toEqual(['a1', 'b1', 'a2']);
  });

  it('are waited for by four requests each, and half of these are those of one caller', async () => {
    const { ask, taken, refused } = tPlaces(2);
    for (let n = 0; n < 7; n += 1) void ask('a', `a${n}`);
    await settle();
    expect([taken(), refused]).toEqual([['a0'], ['a5', 'a6']]);
    for (let n = 0; n < 12; n += 1) void ask(`b${n}`, `b${n}`);
    await settle();
    expect(taken()).toEqual(['a0', 'b0']);
    expect(refused).toEqual(['a5', 'a6', 'b9', 'b10', 'b11']);
  });

  it('are waited for no longer than that, and not by clients that leave', async () => {
    const { ask, taken, refused, leave, callers } = tPlaces(1);
    const leaving = new AbortableSignal();
    void ask('a', 'a1', signal);
    void ask('b', 'b1');
    void ask('c', 'c1', leaving);
    await settle();
    leaving.abort('left');
    await settle();
    expect(refused).toEqual(['c1']);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([taken(), refused]).toEqual([['a1'], ['c1', 'b1']]);
    leave('a1');
    // Nothing is kept about callers without requests.
    expect(callers()).toBe(0);
  });
});
